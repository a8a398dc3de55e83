import { revisionOf } from "../entry.ts";
import type { Revision } from "../store.ts";
import { type Environment, revisionAtTime } from "./databases.ts";
import { transactionError } from "./errors.ts";
import { changesOfTransaction, decodeLogRecord, encodeState, isIndexed, type State } from "./layout.ts";
import { soundStateIn, stateIn } from "./stored-state.ts";
import { MustSync } from "./syncs/sync-point.ts";

/** Number of changes that one transaction drops, in about a millisecond; more only if one revision has more. */
const sliceChanges = 200;

/**
 * Drops history in slices: removes log entries from the start of the log with their index entries, and raises the floor in the same
 * transaction. So several processes may compact at once, and everything above the floor is always readable.
 */
export class Compactor {
  private running: Promise<unknown> = Promise.resolve();

  constructor(private readonly environment: Environment) {}

  /** Raises the floor to the revision that was newest at `before` (milliseconds since 1970), and returns it. */
  compact(before: number): Promise<Revision> {
    const next = this.running.then(() => this.run(before));
    // The caller handles a failure; the next compaction only waits for the end of this one.
    this.running = Promise.allSettled([next]);
    return next;
  }

  /** Resolves when no compaction is running. */
  async settled(): Promise<void> {
    await this.running;
  }

  private async run(before: number): Promise<Revision> {
    const { meta } = this.environment;
    meta.resetReadTxn();
    const target = revisionAtTime(this.environment, before);
    for (;;) {
      meta.resetReadTxn();
      const { floor } = stateIn(meta.getBinaryFast("state"));
      if (floor >= target) return floor;
      await this.dropSlice(target, before);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Drops one slice, without a sync if that is possible at once: history that a power failure brings back is dropped again. */
  private async dropSlice(target: Revision, before: number): Promise<void> {
    const { root, syncs } = this.environment;
    const drop = (enter: (state: State) => number | undefined) => this.drop(target, before, enter);
    try {
      if (syncs.hasUnsynced) return syncs.commit(0, 0, (unsyncedSince) => drop(() => unsyncedSince));
    } catch (error) {
      if (!(error instanceof MustSync)) throw error;
    }
    try {
      await syncs.track(() => root.transaction(() => drop((state) => syncs.enterSynced(state))));
    } catch (error) {
      throw await transactionError(error);
    }
  }

  /** Must be called in the write transaction. */
  private drop(target: Revision, before: number, enter: (state: State) => number | undefined): void {
    const { meta, log, history, marks } = this.environment;
    const state = soundStateIn(meta.getBinaryFast("state"));
    const { revision, floor, markTime } = state;
    const last = revisionOf(Math.min(target, revision));
    if (last <= floor) return;
    const unsyncedSince = enter(state);
    let upTo = floor;
    for (let dropped = 0; upTo < last && dropped < sliceChanges; dropped++) {
      const at = (upTo = revisionOf(upTo + 1));
      const bytes = log.getBinaryFast(at);
      if (bytes === undefined) continue;
      const listed = changesOfTransaction(bytes);
      if (listed === undefined) {
        const { kind, key, recordAt } = decodeLogRecord(bytes);
        if (isIndexed(kind, bytes, recordAt)) history.removeSync([key, at]);
      } else {
        for (const { key } of listed) history.removeSync([key, at]);
        dropped += listed.length;
      }
      log.removeSync(at);
    }
    const old = [...marks.getKeys({ start: 0, end: Math.max(0, before), limit: sliceChanges })];
    if (upTo === target) for (const time of old) marks.removeSync(time);
    const hasTransactions = state.hasTransactions === true && upTo < revision;
    meta.putSync(
      "state",
      encodeState({ revision, floor: upTo, markTime, batch: 0, unsyncedSince, hasTransactions }),
    );
  }
}
