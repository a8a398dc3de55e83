import { FieldSet } from "./field-set.ts";
import { shapeBelow, type Shape } from "./shape.ts";

/**
 * Adapts a recorded set to the current shape (spec: conventions 4.10; `ReconcileFieldSetWithSchema` of structured-merge-diff).
 * The schema may have changed since the set was recorded. If a field became atomic, the owner of a part owns the whole. If an
 * atomic field became granular, its owner keeps the path of the field and owns none of its parts, so the parts cause no conflict.
 *
 * @returns the same set if no change is needed.
 */
export function reconcileWithShape(set: FieldSet, shape: Shape): FieldSet {
  if (set.children.size === 0) return set;
  if (becameAtomic(set, shape)) return FieldSet.leaf;
  let children: Map<string, FieldSet> | undefined;
  for (const [element, below] of set.children) {
    const reconciled = reconcileChild(element, below, shape);
    if (reconciled === below) continue;
    children ??= new Map(set.children);
    if (reconciled.isEmpty) children.delete(element);
    else children.set(element, reconciled);
  }
  return children === undefined ? set : FieldSet.of(set.isMember, children);
}

function reconcileChild(element: string, below: FieldSet, shape: Shape): FieldSet {
  if (!element.startsWith(elementPrefixes[shape.kind])) return FieldSet.empty;
  const shapeOfChild = shapeBelow(shape, element);
  // A field that is no longer declared stays: a later schema may declare it again.
  return shapeOfChild === undefined ? below : reconcileWithShape(below, shapeOfChild);
}

/** Prefixes of the path elements of each shape. */
const elementPrefixes = {
  struct: "f:",
  map: "f:",
  deduced: "f:",
  set: "v:",
  items: "k:",
  leaf: "-",
} as const;

/** Whether a set has fields below a path that is now atomic. Without a schema, lists are atomic. */
function becameAtomic({ children }: FieldSet, { kind }: Shape): boolean {
  if (kind !== "deduced") return kind === "leaf";
  for (const element of children.keys()) if (!element.startsWith(elementPrefixes.deduced)) return true;
  return false;
}
