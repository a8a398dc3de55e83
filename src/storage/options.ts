import type { Clock } from "../base/clock.ts";
import type { RequestedStamp } from "./stamp.ts";

/** What every engine is given. */
export interface StoreOptions {
  readonly clock: Clock;
  /**
   * How long superseded and deleted values are kept, in milliseconds; 5 minutes when absent. Infinity: this opener drops none,
   * as maintenance commands must not shorten the history of a running server.
   */
  readonly retentionMs?: number | undefined;
  /** What the store is used for; looked at and written only when given, and only where the data outlives the process. */
  readonly stamp?: RequestedStamp | undefined;
  /** Called when background work failed and will be retried. */
  readonly failed?: ((error: unknown) => void) | undefined;
}

/** How long history is kept unless configured (spec: conventions 8). */
export const defaultRetentionMs = 5 * 60_000;

/** How often an engine looks for history that has become too old. */
export function compactionIntervalMs(retentionMs: number): number {
  return Math.min(Math.max(retentionMs / 10, 100), 30_000);
}
