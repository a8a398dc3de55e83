import { deepEqual, getMember, isObject, type JsonValue } from "../../base/json/value.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { checkInTurns } from "../check-in-turns.ts";
import type { FieldReport } from "../faults.ts";
import { keyText } from "./list-items.ts";
import type { SchemaNode } from "./schema-node.ts";

/** Results of comparisons by the new list or object. */
type Comparisons = WeakMap<object, { readonly old: JsonValue; readonly isEqual: boolean }>;

/** The value that an update replaces. Each list and object is compared once with its old one, however many schemas validate it. */
export class OldValue {
  private constructor(
    private readonly value: JsonValue,
    private readonly comparisons: Comparisons,
  ) {}

  /** Creates the old value of the root. */
  static of(value: JsonValue): OldValue {
    return new OldValue(value, new WeakMap());
  }

  /** Returns the old value of a member; undefined if there is none. */
  member(name: string): OldValue | undefined {
    const member = isObject(this.value) ? getMember(this.value, name) : undefined;
    return member === undefined ? undefined : new OldValue(member, this.comparisons);
  }

  /** Returns the old items of a list map by their keys. Items of other lists have no old item, as in Kubernetes. */
  itemsByKey(node: SchemaNode, report: FieldReport): Map<string, OldValue> | undefined {
    const { value, comparisons } = this;
    if (node.listType !== "map" || !Array.isArray(value)) return undefined;
    report.spend(value.length * node.listMapKeys.length);
    if (report.full) return undefined;
    return new Map(value.map((item) => [keyText(node, item), new OldValue(item, comparisons)]));
  }

  /** Whether the new value is equal to the old one; false if the work exceeds the limit. Long work takes turns. */
  equals(value: JsonValue, report: FieldReport): MaybePromise<boolean> {
    return this.areEqual(value, this.value, report);
  }

  private areEqual(value: JsonValue, old: JsonValue, report: FieldReport): MaybePromise<boolean> {
    report.spend(1 / comparisonsPerUnit);
    if (report.remainingUnits < 0) return false;
    if (typeof value !== "object" || value === null) {
      if (typeof value === "string") report.spend(value.length / charactersPerUnit);
      return deepEqual(value, old);
    }
    const earlier = this.comparisons.get(value);
    if (earlier?.old === old) return earlier.isEqual;
    return andThen(this.haveEqualParts(value, old, report), (isEqual) => {
      this.comparisons.set(value, { old, isEqual });
      return isEqual;
    });
  }

  private haveEqualParts(value: JsonValue, old: JsonValue, report: FieldReport): MaybePromise<boolean> {
    if (Array.isArray(value)) {
      if (!Array.isArray(old) || old.length !== value.length) return false;
      return this.areAllEqual(value, report, (item, index) => this.areEqual(item, old[index]!, report));
    }
    if (!isObject(value) || !isObject(old)) return false;
    const names = Object.keys(value);
    if (names.length !== Object.keys(old).length) return false;
    return this.areAllEqual(
      names,
      report,
      (name) => Object.hasOwn(old, name) && this.areEqual(value[name]!, old[name]!, report),
    );
  }

  /** Whether all parts are equal to their old ones. */
  private areAllEqual<T>(
    parts: readonly T[],
    report: FieldReport,
    areEqual: (part: T, index: number) => MaybePromise<boolean>,
  ): MaybePromise<boolean> {
    let equalCount = 0;
    const compared = checkInTurns(parts, report, (part, index) =>
      andThen(areEqual(part, index), (isEqual) => {
        if (isEqual) equalCount++;
        return isEqual;
      }),
    );
    return andThen(compared, () => equalCount === parts.length);
  }
}

/** Number of characters of a string that are processed per unit of work, see `FieldReport.spend`. */
export const charactersPerUnit = 64;

/** Number of scalar comparisons per unit of work. */
export const comparisonsPerUnit = 8;
