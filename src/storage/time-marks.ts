import { revisionOf } from "./entry.ts";
import type { Revision } from "./store.ts";
import type { Clock } from "../base/time/clock.ts";

/** Precision of marks: a busy store has at most ten per second. */
const markEveryMs = 100;

/** Returns the end of the interval that contains `now`. A mark has the newest revision at the end of its interval. */
export function markTime(now: number): number {
  return (Math.floor(now / markEveryMs) + 1) * markEveryMs;
}

/** Records in memory which revision was the newest at which time, for compaction by age. */
export class TimeMarks {
  private readonly marks: { time: number; revision: Revision }[] = [];

  /** Records that `revision` existed at `now`. Ignores revisions not above the last mark. The clock may step back. */
  add(now: number, revision: Revision): void {
    const last = this.marks.at(-1);
    if (last !== undefined && revision <= last.revision) return;
    const time = Math.max(markTime(now), last?.time ?? 0);
    if (last !== undefined && last.time === time) last.revision = revision;
    else this.marks.push({ time, revision });
  }

  /** Returns the newest revision marked at or before `before`, or 0, and drops all earlier marks. */
  newestBefore(before: number): Revision {
    let count = 0;
    while (count < this.marks.length && this.marks[count]!.time <= before) count++;
    if (count === 0) return revisionOf(0);
    const mark = this.marks[count - 1]!;
    this.marks.splice(0, count - 1);
    return mark.revision;
  }
}

/**
 * Returns a source of milliseconds since 1970 that starts at the clock's wall time and then advances with its monotonic time. The age of
 * history is measured with it: when the wall clock is set forward, no history is dropped early; when it is set back, none is kept longer.
 */
export function steadyTime(clock: Clock): () => number {
  const startMs = clock.now() - clock.monotonicNow();
  return () => startMs + clock.monotonicNow();
}
