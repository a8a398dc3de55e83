import type { Clock } from "../base/time/clock.ts";
import type { RequestedStamp } from "./stamp.ts";

/** Options of every engine. */
export interface StoreOptions {
  readonly clock: Clock;
  /**
   * How long superseded and deleted values are retained, in milliseconds; 5 minutes when absent. With Infinity this process
   * drops none: maintenance commands must not shorten the history of a running server.
   */
  readonly retentionMs?: number | undefined;
  /** Required stamp. Checked and written only if present, and only by engines with persistent data. */
  readonly stamp?: RequestedStamp | undefined;
  /**
   * Maximum time between a write of a collection and its sync, in milliseconds, by the prefix of the collection
   * (`/{group}/{resource}/`). Writes of these collections are acknowledged before they are synced (see **Deferred syncs** of the
   * store's contract). Writes of other collections are acknowledged after their sync. Has no effect on a store in memory.
   */
  readonly deferredSyncMs?: ReadonlyMap<string, number> | undefined;
  /** Called when background work has failed; it will be retried. */
  readonly failed?: ((error: unknown) => void) | undefined;
}

/** Default retention time of history (spec: conventions 8). */
export const defaultRetentionMs = 5 * 60_000;

/** Returns the interval between two compactions, in milliseconds. */
export function compactionIntervalMs(retentionMs: number): number {
  return Math.min(Math.max(retentionMs / 10, 100), 30_000);
}
