import type { SelectionTerm } from "../objects/selection.ts";
import { namesOf } from "../registry/registry.ts";
import type { Header } from "../objects/stored.ts";
import { compareKeys } from "../../storage/keys.ts";
import { isWithin, KeySet, type KeyRange } from "./key-set.ts";

/** What an index is of: a label, a selectable field, or the names of objects. */
export type TermName = Pick<SelectionTerm, "of" | "name">;

/** A value that so many objects have that scanning finds them as soon; only their number is known. */
class CommonValue {
  constructor(public size: number) {}
}

/** Roughly what a key, and a value, take beside their characters: their text's own head and their places in arrays and maps. */
const keyBytes = 40;
const valueBytes = 120;

/** The value by which an object is found; undefined where it has none. */
export function valueIn({ of, name }: TermName, key: string, header: Header): string | undefined {
  if (of === "names") return namesOf(key).name;
  if (of === "labels") return Object.hasOwn(header.labels, name) ? header.labels[name] : undefined;
  return header.fields[name] ?? "";
}

/** The objects of a collection by one label or field: for each value the keys of those that have it. */
export class TermIndex {
  /** Roughly how much memory it takes. */
  bytes = 0;
  private readonly values = new Map<string, string | KeySet | CommonValue>();
  /** How many objects are in it, under any value. */
  private size = 0;
  /** How many values are common. */
  private commons = 0;

  /** @param commonFrom the most objects that may have a value for them to be known by key; it may change. */
  constructor(private readonly commonFrom: () => number) {}

  /** Adds an object that isn't in it. */
  add(value: string, key: string): void {
    this.size++;
    const known = this.values.get(value);
    if (known instanceof CommonValue) {
      known.size++;
      return;
    }
    this.bytes += keyBytes + key.length;
    if (known === undefined) {
      this.values.set(value, key);
      this.bytes += valueBytes + value.length;
    } else if (typeof known === "string") {
      const set = new KeySet();
      set.add(known);
      set.add(key);
      this.values.set(value, set);
    } else {
      known.add(key);
      if (known.size > this.commonFrom()) this.makeCommon(value, known);
    }
  }

  /** Removes an object that is in it. */
  remove(value: string, key: string): void {
    this.size--;
    const known = this.values.get(value);
    if (known instanceof CommonValue) {
      if (--known.size > 0) return;
      this.commons--;
      this.forget(value);
      return;
    }
    this.bytes -= keyBytes + key.length;
    if (known instanceof KeySet) known.delete(key);
    if (known === key || (known instanceof KeySet && known.size === 0)) this.forget(value);
  }

  /** How many objects have one of the values, or any where none are given; undefined where a value is common. */
  count(values: readonly string[] | undefined): number | undefined {
    if (values === undefined) return this.commons > 0 ? undefined : this.size;
    let count = 0;
    for (const known of this.postings(values)) {
      if (known instanceof CommonValue) return undefined;
      count += typeof known === "string" ? 1 : known.size;
    }
    return count;
  }

  /** The keys within a range of the objects that {@link count} counts, in order; no value may be common. */
  keys(values: readonly string[] | undefined, range: KeyRange): string[] {
    const keys: string[] = [];
    let sources = 0;
    for (const known of this.postings(values)) {
      sources++;
      if (known instanceof KeySet) known.collect(range, keys);
      else if (typeof known === "string" && isWithin(known, range)) keys.push(known);
    }
    return sources > 1 ? keys.toSorted(compareKeys) : keys;
  }

  /** Whether an object has one of the values; true where that isn't known. */
  mayHave(values: readonly string[] | undefined, key: string): boolean {
    if (values === undefined) return true;
    return values.some((value) => {
      const known = this.values.get(value);
      return known === key || known instanceof CommonValue || (known instanceof KeySet && known.has(key));
    });
  }

  /** Whether one of the values was common and is no more, so that an index made now would know the keys. */
  isOutdated(values: readonly string[] = []): boolean {
    const limit = this.commonFrom() / 2;
    return values.some((value) => {
      const known = this.values.get(value);
      return known instanceof CommonValue && known.size < limit;
    });
  }

  private *postings(values: readonly string[] | undefined): Generator<string | KeySet | CommonValue> {
    if (values === undefined) return yield* this.values.values();
    for (const value of new Set(values)) {
      const known = this.values.get(value);
      if (known !== undefined) yield known;
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
