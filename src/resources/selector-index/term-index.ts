import type { SelectionTerm } from "../objects/selection.ts";
import { namesOf } from "../registry/registry.ts";
import type { Header } from "../objects/stored.ts";
import { compareKeys } from "../../storage/keys.ts";
import { isWithin, KeySet, type KeyRange } from "./key-set.ts";

/** The subject of an index: a label, a selectable field, or the names of objects. */
export type TermName = Pick<SelectionTerm, "of" | "name">;

/** A common value: a scan of all objects is as fast as an index, so only the number of objects with the value is recorded. */
class CommonValue {
  constructor(public size: number) {}
}

/** Approximate memory of a key and of a value in addition to its characters. */
const keyBytes = 40;
const valueBytes = 120;

/** The value of an object in an index; undefined if it has none. */
export function valueIn({ of, name }: TermName, key: string, header: Header): string | undefined {
  if (of === "names") return namesOf(key).name;
  if (of === "labels") return Object.hasOwn(header.labels, name) ? header.labels[name] : undefined;
  return header.fields[name] ?? "";
}

/** The keys of a collection's objects by the value of one label or field. */
export class TermIndex {
  /** Approximate memory. */
  bytes = 0;
  private readonly values = new Map<string, string | KeySet | CommonValue>();
  /** Number of objects. */
  private size = 0;
  /** Number of common values. */
  private commons = 0;

  /** @param commonFrom returns the number of objects above which a value is common; it may change. */
  constructor(private readonly commonFrom: () => number) {}

  /** Adds an object that isn't in the index. */
  add(value: string, key: string): void {
    this.size++;
    const posting = this.values.get(value);
    if (posting instanceof CommonValue) {
      posting.size++;
      return;
    }
    this.bytes += keyBytes + key.length;
    if (posting === undefined) {
      this.values.set(value, key);
      this.bytes += valueBytes + value.length;
    } else if (typeof posting === "string") {
      const set = new KeySet();
      set.add(posting);
      set.add(key);
      this.values.set(value, set);
    } else {
      posting.add(key);
      if (posting.size > this.commonFrom()) this.makeCommon(value, posting);
    }
  }

  /** Removes an object that is in the index. */
  remove(value: string, key: string): void {
    this.size--;
    const posting = this.values.get(value);
    if (posting instanceof CommonValue) {
      if (--posting.size > 0) return;
      this.commons--;
      this.forget(value);
      return;
    }
    this.bytes -= keyBytes + key.length;
    if (posting instanceof KeySet) posting.delete(key);
    if (posting === key || (posting instanceof KeySet && posting.size === 0)) this.forget(value);
  }

  /** The number of objects with one of the values, or with any if `values` is undefined; undefined if a value is common. */
  count(values: readonly string[] | undefined): number | undefined {
    if (values === undefined) return this.commons > 0 ? undefined : this.size;
    let count = 0;
    for (const posting of this.postings(values)) {
      if (posting instanceof CommonValue) return undefined;
      count += typeof posting === "string" ? 1 : posting.size;
    }
    return count;
  }

  /** The sorted keys within a range of the objects that {@link count} counts; no value may be common. */
  keys(values: readonly string[] | undefined, range: KeyRange): string[] {
    const keys: string[] = [];
    let sources = 0;
    for (const posting of this.postings(values)) {
      sources++;
      if (posting instanceof KeySet) posting.collect(range, keys);
      else if (typeof posting === "string" && isWithin(posting, range)) keys.push(posting);
    }
    return sources > 1 ? keys.toSorted(compareKeys) : keys;
  }

  /** Whether an object has one of the values; also true if a value is common. */
  mayHave(values: readonly string[] | undefined, key: string): boolean {
    if (values === undefined) return true;
    return values.some((value) => {
      const posting = this.values.get(value);
      return (
        posting === key || posting instanceof CommonValue || (posting instanceof KeySet && posting.has(key))
      );
    });
  }

  /** Whether one of the values was common and is no longer, so that a rebuilt index would have its keys. */
  isOutdated(values: readonly string[] = []): boolean {
    const limit = this.commonFrom() / 2;
    return values.some((value) => {
      const posting = this.values.get(value);
      return posting instanceof CommonValue && posting.size < limit;
    });
  }

  private *postings(values: readonly string[] | undefined): Generator<string | KeySet | CommonValue> {
    if (values === undefined) return yield* this.values.values();
    for (const value of new Set(values)) {
      const posting = this.values.get(value);
      if (posting !== undefined) yield posting;
    }
  }

  private makeCommon(value: string, { size, characters }: KeySet): void {
    this.values.set(value, new CommonValue(size));
    this.commons++;
    this.bytes -= size * keyBytes + characters;
  }

  private forget(value: string): void {
    this.values.delete(value);
    this.bytes -= valueBytes + value.length;
  }
}
