/**
 * Which revision was the newest at which time, as far back as the history reaches: the first write of each second has a mark. So a state
 * lasts until the first mark after it.
 */
import { revisionOf } from "../entry.ts";
import { pagesOf } from "../range-pages.ts";
import type { Entry, Revision, Store, Write } from "../store.ts";

const prefix = "/~/times//";
/** Time between two marks, in milliseconds. */
const markEveryMs = 1000;
const digits = 12;
/** Tolerated difference between the clocks of processes, in seconds. */
const maxSkewSeconds = 60;

/** The marks of a store. */
export class TimeLine {
  /** The last second for which this process knows a mark. */
  private marked = 0;

  constructor(
    private readonly store: Store,
    private readonly now: () => number,
  ) {}

  /**
   * Returns the mark to commit with a write; undefined if the present second has one. The commit fails at it if another process was first:
   * call {@link wasMarked}, and commit without it.
   */
  mark(): Extract<Write, { kind: "create" }> | undefined {
    const second = secondOf(this.now());
    if (second <= this.marked) return undefined;
    const draft = { header: new Uint8Array(), body: new Uint8Array(), revisionAt: 0 };
    return { kind: "create", key: keyOf(second), draft };
  }

  /** Remembers that the store has the mark of a key. */
  wasMarked({ key }: { readonly key: string }): void {
    this.marked = Math.max(this.marked, secondIn(key));
  }

  /** Returns the newest revision at the end of the second of a time (milliseconds since 1970). */
  async revisionAt(time: number): Promise<Revision> {
    const latest = await this.store.latestRevision();
    const { entries } = await this.store.range({ prefix, after: keyOf(secondOf(time)), limit: 1 });
    const [next] = entries;
    return next === undefined ? latest : revisionOf(next.revision - 1);
  }

  /** Whether the marks reach back to a time. */
  async reachesBackTo(time: number): Promise<boolean> {
    const { entries } = await this.store.range({ prefix, limit: 1 });
    return entries[0] !== undefined && secondIn(entries[0].key) <= secondOf(time);
  }

  /** Deletes marks that a clock which was ahead has made: they are after the present. */
  async dropFuture(limit: number): Promise<void> {
    const after = keyOf(secondOf(this.now()) + maxSkewSeconds);
    for await (const { entries } of pagesOf(this.store, { prefix, after, limit })) {
      // A conflict is a deletion by another process.
      if (entries.length > 0) await this.store.transact(entries.map(deletionOf));
    }
  }

  /** Deletes marks that are older than the newest one at or before a time, some of them; returns whether there are more. */
  async dropBefore(time: number, limit: number): Promise<boolean> {
    const { entries, more } = await this.store.range({ prefix, limit: limit + 1 });
    const old = entries.filter((_, index) => {
      const next = entries[index + 1];
      return next !== undefined && secondIn(next.key) <= secondOf(time);
    });
    if (old.length === 0) return false;
    await this.store.transact(old.map(deletionOf));
    return more && old.length === limit;
  }
}

function secondOf(time: number): number {
  return Math.max(0, Math.floor(time / markEveryMs));
}

function deletionOf({ key, revision }: Entry): Write {
  return { kind: "delete", key, expected: revision };
}

function keyOf(second: number): string {
  return prefix + String(second).padStart(digits, "0");
}

function secondIn(key: string): number {
  return Number(key.slice(prefix.length));
}
