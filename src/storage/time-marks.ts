import { revisionOf } from "./entry.ts";
import type { Revision } from "./store.ts";

/** Precision of marks: at most ten per second. */
const markEveryMs = 100;

/** Returns the end of the interval that contains `now`. A mark at that time has the newest revision at the end of the interval. */
export function markTime(now: number): number {
  return (Math.floor(now / markEveryMs) + 1) * markEveryMs;
}

/** Records in memory which revision was the newest at which time, for compaction by age. */
export class TimeMarks {
  private readonly marks: { time: number; revision: Revision }[] = [];

  /** Records that `revision` existed at `now`. Ignores a revision below the last one. Time may step back. */
  add(now: number, revision: Revision): void {
    const last = this.marks.at(-1);
    if (last !== undefined && revision <= last.revision) return;
    const time = Math.max(markTime(now), last?.time ?? 0);
    if (last !== undefined && last.time === time) last.revision = revision;
    else this.marks.push({ time, revision });
  }

  /** Returns the newest revision older than `before`, and drops earlier marks; 0 if there is none. */
  newestBefore(before: number): Revision {
    let count = 0;
    while (count < this.marks.length && this.marks[count]!.time <= before) count++;
    if (count === 0) return revisionOf(0);
    const mark = this.marks[count - 1]!;
    this.marks.splice(0, count - 1);
    return mark.revision;
  }
}
