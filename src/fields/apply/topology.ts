import { FieldSet } from "./field-set.ts";
import { shapeBelow, type Shape } from "./shape.ts";

/**
 * A set as its fields could have been written of an object of a shape; the same set where they could. A declaration may have
 * changed since the set was recorded (spec: conventions 4.10). Whoever owned a part of what is now owned as one owns the
 * whole. Whoever owned as one what is now taken apart still owns its place, and none of its parts: nobody can tell what of it
 * was whose, so nothing of it is contested.
 */
export function fitToShape(set: FieldSet, shape: Shape): FieldSet {
  if (set.children.size === 0) return set;
  if (isWhole(set, shape)) return FieldSet.leaf;
  let children: Map<string, FieldSet> | undefined;
  for (const [element, below] of set.children) {
    const fitted = fitBelow(element, below, shape);
    if (fitted === below) continue;
    children ??= new Map(set.children);
    if (fitted.isEmpty) children.delete(element);
    else children.set(element, fitted);
  }
  return children === undefined ? set : FieldSet.of(set.isMember, children);
}

function fitBelow(element: string, below: FieldSet, shape: Shape): FieldSet {
  if (!element.startsWith(elementsOf[shape.kind])) return FieldSet.empty;
  const own = shapeBelow(shape, element);
  // What isn't declared any more may be again.
  return own === undefined ? below : fitToShape(below, own);
}

/** How the elements of the parts of a shape begin. */
const elementsOf = { struct: "f:", map: "f:", deduced: "f:", set: "v:", items: "k:", leaf: "-" } as const;

/** Whether what has parts in a set is owned as one by its shape; without a schema, that is every list. */
function isWhole({ children }: FieldSet, { kind }: Shape): boolean {
  if (kind !== "deduced") return kind === "leaf";
  for (const element of children.keys()) if (!element.startsWith(elementsOf.deduced)) return true;
  return false;
}
