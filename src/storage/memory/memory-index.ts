import { SortedMap } from "../../base/sorted-map.ts";
import { firstRevision } from "../entry.ts";
import { compareKeys, countersOf, prefixDepth, prefixEnd } from "../keys.ts";
import type { Entry, Revision, StoreEvent } from "../store.ts";

/** Values of one key: the current one, and those superseded or deleted within the history. */
interface Chain {
  current: Entry | undefined;
  /** In order of revision. */
  past: { readonly entry: Entry; readonly supersededAt: Revision }[];
  /** Number of dropped values at the start of `past`. */
  dropped: number;
}

/** Data of a memory store: all values within the history, and the event log. */
export class MemoryIndex {
  latest: Revision = firstRevision;
  floor: Revision = firstRevision;
  private readonly chains = new SortedMap<string, Chain>(undefined, compareKeys);
  private readonly counts = new Map<string, number>();
  private log: StoreEvent[] = [];
  private logStart = 0;

  current(key: string): Entry | undefined {
    return this.chains.get(key)?.current;
  }

  at(key: string, revision: Revision): Entry | undefined {
    const chain = this.chains.get(key);
    return chain === undefined ? undefined : valueAt(chain, revision);
  }

  /** Applies a committed event; its revision must be the next one. */
  apply(event: StoreEvent): void {
    const chain = this.chains.get(event.key) ?? { current: undefined, past: [], dropped: 0 };
    if (event.previous !== undefined)
      chain.past.push({ entry: event.previous, supersededAt: event.revision });
    chain.current = event.entry;
    this.chains.set(event.key, chain);
    this.log.push(event);
    this.latest = event.revision;
    const change = (event.entry === undefined ? 0 : 1) - (event.previous === undefined ? 0 : 1);
    if (change !== 0) this.addToCounters(event.key, change);
  }

  /** Returns the entries under `prefix` with keys after `after`, at `revision`, in key order. */
  *entries(prefix: string, after: string | undefined, revision: Revision): Generator<Entry> {
    const end = prefixEnd(prefix);
    const start = after !== undefined && compareKeys(after, prefix) > 0 ? after : prefix;
    for (const [key, chain] of this.chains.entries(start)) {
      if (compareKeys(key, end) >= 0) return;
      if (key === after) continue;
      const entry = valueAt(chain, revision);
      if (entry !== undefined) yield entry;
    }
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

  /** Returns up to `limit` events after a revision, of all keys. */
  eventsAfter(revision: Revision, limit: number): StoreEvent[] {
    // The log has every revision, because this store assigns them without gaps.
    const first = this.log[this.logStart];
    if (first === undefined) return [];
    const from = this.logStart + Math.max(0, revision + 1 - first.revision);
    return this.log.slice(from, from + limit);
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
    for (const [key, { current, past, dropped }] of this.chains.entries()) {
      if (current !== undefined) {
        const { collection, partition } = countersOf(key);
        for (const prefix of [collection, partition]) counted.set(prefix, (counted.get(prefix) ?? 0) + 1);
        if (current.revision > this.latest) problems.push(`${key} is newer than the latest revision`);
      }
      if (current === undefined && past.length === dropped)
        problems.push(`${key} has no value and no history`);
    }
    for (const prefix of new Set([...counted.keys(), ...this.counts.keys()])) {
      const [actual, counter] = [counted.get(prefix) ?? 0, this.counts.get(prefix) ?? 0];
      if (actual !== counter) problems.push(`${prefix} counts ${counter} keys and has ${actual}`);
    }
    return problems;
  }

  private forget(event: StoreEvent): void {
    const chain = this.chains.get(event.key);
    if (chain === undefined) return;
    if (event.previous !== undefined) dropOldest(chain);
    if (chain.current === undefined && chain.past.length === chain.dropped) this.chains.delete(event.key);
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
function dropOldest(chain: Chain): void {
  chain.dropped++;
  if (chain.dropped * 2 <= chain.past.length) return;
  chain.past = chain.past.slice(chain.dropped);
  chain.dropped = 0;
}

function valueAt({ current, past, dropped }: Chain, revision: Revision): Entry | undefined {
  if (current !== undefined && current.revision <= revision) return current;
  let low = dropped;
  let high = past.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (past[middle]!.supersededAt > revision) high = middle;
    else low = middle + 1;
  }
  const candidate = past[low];
  return candidate !== undefined && candidate.entry.revision <= revision ? candidate.entry : undefined;
}
