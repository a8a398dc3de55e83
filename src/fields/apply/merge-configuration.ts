import { mergeTyped } from "./merge-typed.ts";
import { partsOf } from "./parts.ts";
import { memberShape, isParent, type Shape } from "./shape.ts";

/**
 * Merges a configuration into an object as an apply does, without owners: nothing is removed. The inputs aren't changed; the result
 * shares parts with both.
 *
 * @throws {PartsFault} an item of a list in the configuration has no keys, or those of another one.
 */
export function mergeConfiguration(live: unknown, applied: unknown, shape: Shape): unknown {
  assertParts(applied, shape);
  return mergeTyped(live, applied, shape);
}

/** Reads the items of all lists strictly. */
function assertParts(value: unknown, shape: Shape): void {
  for (const part of partsOf(value, shape, "strict") ?? []) assertParts(part.value, part.shape);
}

/** Returns the paths of the atomic lists, maps and structs in a configuration: `.spec.template.spec.tolerations`. */
export function atomicPaths(value: unknown, shape: Shape, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) {
    if (shape.kind === "set") return [];
    if (shape.kind !== "items") return [path];
    return value.flatMap((item, index) => atomicPaths(item, shape.element, `${path}[${index}]`));
  }
  if (!isParent(shape)) return [path];
  return Object.entries(value).flatMap(([name, member]) => {
    const below = memberShape(shape, name);
    return below === undefined ? [] : atomicPaths(member, below, `${path}.${name}`);
  });
}
