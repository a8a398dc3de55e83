import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { FieldReport } from "./faults.ts";

/** Checks one of several parts; `false` ends the checks of the others. */
type PartCheck<T> = (part: T, index: number) => MaybePromise<boolean | void>;

/**
 * Checks parts in order, until the report is full. Yields to the event loop when the work on the object has run for long; so the parts must
 * count their work ({@link FieldReport.spend}).
 */
export function checkInTurns<T>(
  parts: readonly T[],
  report: FieldReport,
  check: PartCheck<T>,
): MaybePromise<void> {
  for (let index = 0; index < parts.length; index++) {
    if (report.full) return;
    const result = check(parts[index]!, index);
    if (result instanceof Promise) return checkRest(parts, index + 1, report, check, result);
    if (result === false) return;
    const pause = report.pauseIfDue();
    if (pause !== undefined) return checkRest(parts, index + 1, report, check, pause);
  }
}

async function checkRest<T>(
  parts: readonly T[],
  start: number,
  report: FieldReport,
  check: PartCheck<T>,
  waiting: Promise<boolean | void>,
): Promise<void> {
  if ((await waiting) === false) return;
  for (let index = start; index < parts.length; index++) {
    if (report.full) return;
    const result = check(parts[index]!, index);
    const goesOn = result instanceof Promise ? await result : result;
    if (goesOn === false) return;
    const pause = report.pauseIfDue();
    if (pause !== undefined) await pause;
  }
}
