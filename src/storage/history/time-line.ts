/** Which revision was the newest at which time, as far back as the history reaches: a mark for each second with writes. */
import { revisionOf } from "../entry.ts";
import type { Revision, Store, Write } from "../store.ts";
import { descending, fromDescending } from "./archive-keys.ts";

const prefix = "/~/times//";
/** Time between two marks, in milliseconds. */
const markEveryMs = 1000;

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
    const second = this.second();
    if (second <= this.marked) return undefined;
    const draft = { header: new Uint8Array(), body: new Uint8Array(), revisionAt: 0 };
    return { kind: "create", key: keyOf(second), draft };
  }

  /** Remembers that the store has the mark of a key. */
  wasMarked({ key }: { readonly key: string }): void {
    this.marked = Math.max(this.marked, fromDescending(key.slice(prefix.length)));
  }

  /** Returns the newest marked revision at or before a time (milliseconds since 1970); undefined if no mark is as old. */
  async revisionAt(time: number): Promise<Revision | undefined> {
    const second = Math.floor(time / markEveryMs);
    const after = prefix + descending(second + 1);
    const { entries } = await this.store.range({ prefix, after, limit: 1 });
    return entries[0]?.revision;
  }

  /** Deletes the marks that are older than the newest one at or before a time, some of them; returns whether there are more. */
  async dropBefore(time: number, limit: number): Promise<boolean> {
    const kept = await this.revisionAt(time);
    if (kept === undefined) return false;
    const after = prefix + descending(Math.floor(time / markEveryMs) + 1);
    const { entries, more } = await this.store.range({ prefix, after, limit: limit + 1 });
    const [, ...old] = entries;
    if (old.length === 0) return false;
    await this.store.transact(old.map(({ key, revision }) => ({ kind: "delete", key, expected: revision })));
    return more;
  }

  private second(): number {
    return Math.floor(this.now() / markEveryMs);
  }
}

function keyOf(second: number): string {
  return prefix + descending(second);
}

/** The revision of a state before all marks. */
export const noRevision = revisionOf(0);
