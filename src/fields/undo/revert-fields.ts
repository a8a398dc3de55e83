import { setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { FieldSet } from "../apply/field-set.ts";
import type { Shape } from "../apply/shape.ts";
import { fieldDifferences } from "./field-differences.ts";
import {
  formOf,
  partsIn,
  sameValue,
  type FieldPath,
  type FieldValue,
  type ValueParts,
  type ValuePart,
} from "./field-values.ts";
import { commonOrder, reordered, sameOrder, withRestored } from "./item-order.ts";

/** A field that a change has set and another one since. */
export interface FieldConflict {
  readonly path: FieldPath;
  /** The value to which an undo would set the field. */
  readonly before: FieldValue;
  /** The value that the change has set. */
  readonly after: FieldValue;
  /** The value now. */
  readonly now: FieldValue;
}

/** Decides what {@link revertFields} leaves open. */
export interface ConflictRule {
  /**
   * Whether a struct or an item with keys that one side has removed and the other one has changed is a conflict as a whole. Otherwise
   * their fields are compared, and nothing is restored in an item that was removed since.
   */
  readonly comparesWhole: boolean;
  /** Returns the value of a field with a conflict. */
  resolve(conflict: FieldConflict): FieldValue;
}

/** A conflict leaves the current value. */
const undoRule: ConflictRule = { comparesWhole: false, resolve: ({ now }) => now };

/** The object without the effect of a change. */
export interface Reversal {
  /** The current value itself if the change has no effect on it. Shares parts with the arguments. */
  readonly value: FieldValue;
  readonly conflicts: readonly FieldConflict[];
}

/**
 * Takes a change back in the current value, field by field. A field that still has the value that the change has set gets the value
 * from before the change; all other fields keep their values. If a field has neither of the two values, it is a conflict.
 *
 * An item of a list with keys that the change has created is removed only if it is unchanged, because its rest may lack its keys; for the
 * same reason nothing is restored in an item that was removed since. The order of items is restored if only the change has changed it.
 *
 * @param before undefined if the change created the value.
 * @param after undefined if the change removed the value.
 * @param ignored fields that are neither changed nor compared.
 * @param rule of conflicts; by default they leave the current values.
 */
export function revertFields(
  before: FieldValue,
  after: FieldValue,
  now: FieldValue,
  shape: Shape,
  ignored: FieldSet = FieldSet.empty,
  rule: ConflictRule = undoRule,
): Reversal {
  const reverter = new Reverter(rule);
  const value = reverter.revert({ before, after, now, path: [] }, shape, ignored);
  return { value, conflicts: reverter.conflicts };
}

/** The values of a field, and its path. */
type Values = FieldConflict;

/** The parts of the three values of a field. */
type Parts = Readonly<Record<"before" | "after" | "now", NonNullable<ValueParts>>>;

class Reverter {
  readonly conflicts: FieldConflict[] = [];

  constructor(private readonly rule: ConflictRule) {}

  revert(values: Values, shape: Shape, ignored: FieldSet): FieldValue {
    const { before, after, now } = values;
    if (ignored.isMember || sameValue(before, after) || sameValue(now, before)) return now;
    if (ignored.isEmpty && sameValue(now, after)) return before;
    const form = formOf([before, after, now], shape);
    const isWhole = form === "atomic" || (shape.kind === "struct" && this.isWhole(values));
    const parts = isWhole ? undefined : partsOfAll(values, shape, form);
    if (parts === undefined) return this.conflict(values);
    return form === "object"
      ? this.revertMembers(values, parts, shape, ignored)
      : this.revertItems(values, parts, shape);
  }

  private conflict(values: Values): FieldValue {
    this.conflicts.push(values);
    return this.rule.resolve(values);
  }

  /** Whether one side has removed the value and the other one has changed it, and that is a conflict as a whole. */
  private isWhole({ before, after, now, path }: Values): boolean {
    const isRemoved = after !== undefined && (before === undefined) !== (now === undefined);
    return this.rule.comparesWhole && isRemoved && path.length > 0;
  }

  private revertMembers(values: Values, parts: Parts, shape: Shape, ignored: FieldSet): FieldValue {
    const { now } = values;
    const result: JsonObject = {};
    let isChanged = false;
    for (const [element, part] of new Map([...parts.now, ...parts.before, ...parts.after])) {
      const below = valuesBelow(values, parts, element);
      const value = this.revert(below, part.shape, ignored.below(element));
      if (value !== below.now) isChanged = true;
      if (value !== undefined) setMember(result, element.slice("f:".length), value);
    }
    if (Object.keys(result).length > 0) return isChanged ? result : now;
    return emptyValue(values, shape, isChanged);
  }

  private revertItems(values: Values, parts: Parts, shape: Shape): FieldValue {
    const { now } = values;
    const items = new Map<string, JsonValue>();
    const restored = new Set<string>();
    let isChanged = false;
    for (const [element, part] of new Map([...parts.now, ...parts.before, ...parts.after])) {
      const below = valuesBelow(values, parts, element);
      const value =
        shape.kind === "items"
          ? this.revertItem(below, part)
          : this.revert(below, part.shape, FieldSet.empty);
      if (value !== below.now) isChanged = true;
      if (value === undefined) continue;
      items.set(element, value);
      if (below.now === undefined) restored.add(element);
    }
    const current = [...parts.now.keys()].filter((element) => items.has(element));
    const order = this.orderOf(values, parts, current);
    if (items.size === 0) return emptyValue(values, shape, isChanged);
    if (!isChanged && order === current) return now;
    return withRestored(order, [...parts.before.keys()], restored).map((element) => items.get(element)!);
  }

  private revertItem(values: Values, { shape }: ValuePart): FieldValue {
    const { before, after, now, path } = values;
    if (this.rule.comparesWhole) {
      if (sameValue(before, after) || sameValue(now, before)) return now;
      if (sameValue(now, after)) return before;
      return this.isWhole(values) ? this.conflict(values) : this.revert(values, shape, FieldSet.empty);
    }
    const isReplaced = now !== undefined && (before === undefined) !== (after === undefined);
    if (now === undefined && after !== undefined) return undefined;
    if (!isReplaced || sameValue(now, before ?? after)) return this.revert(values, shape, FieldSet.empty);
    // The change has created or removed the item, and it is another one now.
    for (const { path: below, from, to } of fieldDifferences(before ?? after, now, shape)) {
      const origin =
        before === undefined ? { before: undefined, after: from } : { before: from, after: undefined };
      this.conflicts.push({ path: [...path, ...below], ...origin, now: to });
    }
    return now;
  }

  /** Returns the current elements in the order that they have without the change. */
  private orderOf(values: Values, parts: Parts, current: string[]): string[] {
    const { before, after, now } = parts;
    const order = commonOrder(before, after, now);
    const changed = commonOrder(after, before, now);
    if (sameOrder(order, changed)) return current;
    const currentOrder = commonOrder(now, before, after);
    if (sameOrder(currentOrder, order)) return current;
    if (sameOrder(currentOrder, changed)) return reordered(current, order);
    return this.conflict(values) === values.before ? reordered(current, order) : current;
  }
}

/**
 * Returns the value of a field without parts. An object or list that the change has created goes with the last of its parts; so does a map
 * or list that it emptied, as servers leave it out. An empty object with declared members may have a meaning.
 */
function emptyValue({ before, now }: Values, shape: Shape, isChanged: boolean): FieldValue {
  if (now === undefined || now === null) return now;
  if (before === undefined || before === null) return before;
  if (!isChanged || Object.keys(before).length === 0) return isChanged ? before : now;
  return shape.kind === "struct" || shape.kind === "deduced" ? {} : undefined;
}

function partsOfAll(values: Values, shape: Shape, form: "object" | "list"): Parts | undefined {
  const [before, after, now] = [values.before, values.after, values.now].map((value) =>
    partsIn(value, shape, form),
  );
  return before && after && now && { before, after, now };
}

function valuesBelow({ path }: Values, parts: Parts, element: string): Values {
  return {
    path: [...path, element],
    before: parts.before.get(element)?.value,
    after: parts.after.get(element)?.value,
    now: parts.now.get(element)?.value,
  };
}
