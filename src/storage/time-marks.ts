import { revisionOf } from "./entry.ts";
import type { Revision } from "./store.ts";

/** Marks are kept to this precision, so that a busy store has at most ten a second. */
const markEveryMs = 100;

/** The end of the interval in which `now` lies: a mark made there says what was newest when the interval ended. */
export function markTime(now: number): number {
  return (Math.floor(now / markEveryMs) + 1) * markEveryMs;
}

/** Which revision was newest at which time, for compaction by age; kept in memory. */
export class TimeMarks {
  private readonly marks: { time: number; revision: Revision }[] = [];

  /** Remembers that `revision` was there at `now`; a revision below one already known says nothing. Time may step back. */
  add(now: number, revision: Revision): void {
    const last = this.marks.at(-1);
    if (last !== undefined && revision <= last.revision) return;
    const time = Math.max(markTime(now), last?.time ?? 0);
    if (last !== undefined && last.time === time) last.revision = revision;
    else this.marks.push({ time, revision });
  }

  /** The newest revision known to be older than `before`, forgetting what came earlier; 0 when none is. */
  newestBefore(before: number): Revision {
    let count = 0;
    while (count < this.marks.length && this.marks[count]!.time <= before) count++;
    if (count === 0) return revisionOf(0);
    const mark = this.marks[count - 1]!;
    this.marks.splice(0, count - 1);
    return mark.revision;
  }
}
