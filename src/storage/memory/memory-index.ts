import { SortedMap } from "../../base/collections/sorted-map.ts";
import { firstRevision } from "../entry.ts";
import { compareKeys, countersOf, prefixDepth, prefixEnd } from "../keys.ts";
import type { Entry, Revision, StoreEvent } from "../store.ts";
import { isSameEntry, type Difference, type MemoryImage } from "./memory-image.ts";

/** The values of one key that were superseded or deleted within the history. */
interface Past {
  /** In order of revision. */
  values: { readonly entry: Entry; readonly supersededAt: Revision }[];
  /** Number of dropped values at the start of `values`. */
  dropped: number;
}

/** Data of a memory store: all values within the history, and the event log. */
export class MemoryIndex {
  latest: Revision;
  floor: Revision;
  private readonly values: SortedMap<string, Entry>;
  /** Keys without a current value that had one within the history. */
  private readonly deleted = new SortedMap<string, true>(undefined, compareKeys);
  private readonly past = new Map<string, Past>();
  private readonly counts: Map<string, number>;
  private log: StoreEvent[] = [];
  private logStart = 0;

  /** @param image the values at the start; without it there are none. History begins with its revision. */
  constructor(image?: MemoryImage) {
    this.latest = this.floor = image?.revision ?? firstRevision;
    this.values = image?.entries.clone() ?? new SortedMap<string, Entry>(undefined, compareKeys);
    this.counts = new Map(image?.counts);
  }

  /** Returns the current values; takes constant time, besides the counters. */
  image(): MemoryImage {
    return { revision: this.latest, entries: this.values.clone(), counts: new Map(this.counts) };
  }

  /** Returns the keys whose current values differ from those of an image, in key order. */
  differences(image: MemoryImage): Difference[] {
    const differences: Difference[] = [];
    const desiredEntries = image.entries.entries();
    let next = desiredEntries.next();
    const addMissing = (end: string | undefined) => {
      for (; next.done !== true; next = desiredEntries.next()) {
        const [key, desired] = next.value;
        if (end !== undefined && compareKeys(key, end) >= 0) return;
        differences.push({ key, current: undefined, desired });
      }
    };
    for (const [key, current] of this.values.entries()) {
      addMissing(key);
      const isInImage = next.done !== true && next.value[0] === key;
      const desired = isInImage ? (next.value[1] as Entry) : undefined;
      if (isInImage) next = desiredEntries.next();
      if (desired === undefined || !isSameEntry(current, desired))
        differences.push({ key, current, desired });
    }
    addMissing(undefined);
    return differences;
  }

  current(key: string): Entry | undefined {
    return this.values.get(key);
  }

  at(key: string, revision: Revision): Entry | undefined {
    const current = this.values.get(key);
    return current !== undefined && current.revision <= revision ? current : this.pastAt(key, revision);
  }

  /** Applies a committed event; its revision must be the next one, or that of the transaction to which the last event belongs. */
  apply(event: StoreEvent): void {
    const { key, revision, entry, previous } = event;
    if (previous !== undefined) this.supersede(previous, revision);
    if (entry === undefined) this.values.delete(key);
    else this.values.set(key, entry);
    this.log.push(event);
    this.latest = revision;
    const change = (entry === undefined ? 0 : 1) - (previous === undefined ? 0 : 1);
    if (change === 0) return;
    this.addToCounters(key, change);
    if (entry === undefined) this.deleted.set(key, true);
    else if (this.deleted.size > 0) this.deleted.delete(key);
  }

  /** Returns the entries under `prefix` with keys after `after`, at `revision`, in key order. */
  *entries(prefix: string, after: string | undefined, revision: Revision): Generator<Entry> {
    const end = prefixEnd(prefix);
    const start = after !== undefined && compareKeys(after, prefix) > 0 ? after : prefix;
    const isComplete = revision === this.latest || this.deleted.size === 0;
    const values = isComplete ? this.values.entries(start) : this.valuesAndDeleted(start);
    for (const [key, current] of values) {
      if (compareKeys(key, end) >= 0) return;
      if (key === after) continue;
      const isOld = current !== undefined && current.revision <= revision;
      const entry = isOld ? current : this.pastAt(key, revision);
      if (entry !== undefined) yield entry;
    }
  }

  /** Returns the keys from `start` with their current values, also those that are deleted, in key order. */
  private *valuesAndDeleted(start: string): Generator<readonly [string, Entry | undefined]> {
    const deleted = this.deleted.keys(start);
    let next = deleted.next();
    for (const [key, current] of this.values.entries(start)) {
      for (; next.done !== true && compareKeys(next.value, key) < 0; next = deleted.next()) {
        yield [next.value, undefined];
      }
      yield [key, current];
    }
    for (; next.done !== true; next = deleted.next()) yield [next.value, undefined];
  }

  /** Returns the current number of keys under the prefix. */
  count(prefix: string): number {
    const depth = prefixDepth(prefix);
    if (depth === 2 || depth === 3) return this.counts.get(prefix) ?? 0;
    let total = 0;
    for (const [counted, count] of this.counts) {
      if (prefixDepth(counted) === 2 && counted.startsWith(prefix)) total += count;
    }
    return total;
  }

  /** Returns the events after a revision up to `upTo`, of all keys: about `limit`, and all of a revision. */
  eventsAfter(revision: Revision, upTo: Revision, limit: number): StoreEvent[] {
    const from = this.logIndexAfter(revision);
    let end = Math.min(from + limit, this.logIndexAfter(upTo));
    while (end > from && this.log[end]?.revision === this.log[end - 1]!.revision) end++;
    return this.log.slice(from, end);
  }

  /** Returns the index in the log of the first event after a revision. */
  private logIndexAfter(revision: Revision): number {
    let low = this.logStart;
    let high = this.log.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.log[middle]!.revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Drops values that were superseded at or before `floor`. */
  compact(floor: Revision): void {
    while (this.logStart < this.log.length && this.log[this.logStart]!.revision <= floor) {
      this.forget(this.log[this.logStart++]!);
    }
    if (this.logStart * 2 > this.log.length) {
      this.log = this.log.slice(this.logStart);
      this.logStart = 0;
    }
    if (floor > this.floor) this.floor = floor;
  }

  /** Returns inconsistencies between values, counters, log and revision. */
  check(): string[] {
    const problems: string[] = [];
    const counted = new Map<string, number>();
    for (const [key, { revision }] of this.values.entries()) {
      const { collection, partition } = countersOf(key);
      for (const prefix of [collection, partition]) counted.set(prefix, (counted.get(prefix) ?? 0) + 1);
      if (revision > this.latest) problems.push(`${key} is newer than the latest revision`);
    }
    for (const key of this.deleted.keys()) {
      if (!this.past.has(key)) problems.push(`${key} has no value and no history`);
      if (this.values.has(key)) problems.push(`${key} has a value and is deleted`);
    }
    for (const prefix of new Set([...counted.keys(), ...this.counts.keys()])) {
      const [actual, counter] = [counted.get(prefix) ?? 0, this.counts.get(prefix) ?? 0];
      if (actual !== counter) problems.push(`${prefix} counts ${counter} keys and has ${actual}`);
    }
    return problems;
  }

  private supersede(entry: Entry, supersededAt: Revision): void {
    let past = this.past.get(entry.key);
    if (past === undefined) this.past.set(entry.key, (past = { values: [], dropped: 0 }));
    past.values.push({ entry, supersededAt });
  }

  private forget({ key, previous }: StoreEvent): void {
    const past = previous === undefined ? undefined : this.past.get(key);
    if (past === undefined) return;
    dropOldest(past);
    if (past.values.length > past.dropped) return;
    this.past.delete(key);
    this.deleted.delete(key);
  }

  private pastAt(key: string, revision: Revision): Entry | undefined {
    const past = this.past.get(key);
    return past === undefined ? undefined : valueAt(past, revision);
  }

  private addToCounters(key: string, change: number): void {
    const { collection, partition } = countersOf(key);
    for (const counted of [collection, partition]) {
      const count = (this.counts.get(counted) ?? 0) + change;
      if (count === 0) this.counts.delete(counted);
      else this.counts.set(counted, count);
    }
  }
}

/** Forgets the oldest version; the array is copied only occasionally, because a key may have many versions. */
function dropOldest(past: Past): void {
  past.dropped++;
  if (past.dropped * 2 <= past.values.length) return;
  past.values = past.values.slice(past.dropped);
  past.dropped = 0;
}

function valueAt({ values, dropped }: Past, revision: Revision): Entry | undefined {
  let low = dropped;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]!.supersededAt > revision) high = middle;
    else low = middle + 1;
  }
  const candidate = values[low];
  return candidate !== undefined && candidate.entry.revision <= revision ? candidate.entry : undefined;
}
