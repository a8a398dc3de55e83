import { decodeManagedFields, type ManagedFields } from "../../fields/apply/new-fields-text.ts";
import type { FieldSet } from "../../fields/apply/field-set.ts";
import { shapeBelow, type Shape } from "../../fields/apply/shape.ts";
import type { FieldDifference } from "../../fields/undo/field-differences.ts";
import type { FieldPath } from "../../fields/undo/field-values.ts";
import type { ApiObject } from "../../schema/kind.ts";

/** The field managers of an object while the writes of a change set are taken back in it. */
export class FieldOwners {
  /** Fields that have the values of an earlier object, whose managers own them; the latest last. */
  private readonly restored: { readonly paths: PathTree; readonly source: Source }[] = [];
  /** The object whose managers own all other fields. */
  private base: Source;

  constructor(
    object: ApiObject | undefined,
    private readonly shape: Shape,
  ) {
    this.base = new Source(object);
  }

  /** Records that fields have the values of an earlier object. */
  restore(object: ApiObject, fields: readonly FieldDifference[]): void {
    const paths = new PathTree();
    for (const { path } of fields) paths.add(path);
    this.restored.push({ paths, source: new Source(object) });
  }

  /** Records that the whole object is an earlier one. */
  replace(object: ApiObject): void {
    this.restored.length = 0;
    this.base = new Source(object);
  }

  /** Returns the names of the managers of a field, or of fields below it, each once. */
  of(path: FieldPath): string[] {
    const restored = this.restored.findLast(({ paths }) => paths.touches(path));
    return (restored?.source ?? this.base).ownersOf(path, this.shape);
  }
}

/** The managed fields of an object, decoded at their first use. */
class Source {
  private readonly managedFields: ApiObject["metadata"]["managedFields"];
  private decoded: ManagedFields | undefined;

  constructor(object: ApiObject | undefined) {
    this.managedFields = object?.metadata.managedFields;
  }

  ownersOf(path: FieldPath, shape: Shape): string[] {
    const { owners, entries } = (this.decoded ??= decodeManagedFields(this.managedFields));
    const names = new Set<string>();
    for (const [id, { set }] of owners) if (owns(set, path, shape)) names.add(entries.get(id)!.manager.name);
    return [...names];
  }
}

/** Whether a set has a path, a part of it, or an atomic value that contains it. */
function owns(set: FieldSet, path: FieldPath, shape: Shape): boolean {
  let [above, shapeAbove]: [FieldSet, Shape | undefined] = [set, shape];
  for (const element of path) {
    // The path of an object or list with parts isn't one of them.
    if (shapeAbove?.kind === "leaf") return above.isMember;
    above = above.below(element);
    shapeAbove = shapeAbove && shapeBelow(shapeAbove, element);
  }
  return !above.isEmpty;
}

/** Paths, searched by their elements. */
class PathTree {
  private readonly below = new Map<string, PathTree>();
  private isEnd = false;

  add([first, ...rest]: FieldPath): void {
    if (first === undefined) {
      this.isEnd = true;
      return;
    }
    let next = this.below.get(first);
    if (next === undefined) this.below.set(first, (next = new PathTree()));
    next.add(rest);
  }

  /** Whether a path, one above or one below it was added. */
  touches([first, ...rest]: FieldPath): boolean {
    if (this.isEnd || first === undefined) return true;
    return this.below.get(first)?.touches(rest) ?? false;
  }
}
