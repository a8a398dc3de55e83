import { randomInt } from "node:crypto";
import type { Clock } from "../../../base/time/clock.ts";
import type { MaybePromise } from "../../../base/turns/maybe-promise.ts";
import type { Revision, Store } from "../../../storage/store.ts";

/** Store prefix of the keys of turns; no resource type has this prefix. */
export const turnPrefix = "/core/quota-turns/";

/** Number of turns. Each is shared by the namespaces with the same hash, so no turn has to be removed with a namespace. */
const turnCount = 64;
/** The longest pause before a turn that was lost repeatedly is acquired again, in milliseconds. */
const longestPauseMs = 64;

const head = '{"revision":"';
const draft = {
  header: Buffer.from("{}"),
  body: Buffer.from(`${head}"}`),
  revisionAt: Buffer.byteLength(head),
};

/**
 * The turns in which the processes over one store charge the quotas of a namespace. A turn is a key in the store; the process
 * that has written it last owns it. Every charge is committed on the condition that its process still owns the turn. So a process
 * that acquires a turn and then reads the usage sees all charges of others before its turn.
 *
 * A process keeps a turn until another one takes it, so a single process writes each turn only once.
 */
export class QuotaTurns {
  private readonly owned = new Map<string, Revision>();
  private readonly acquiring = new Map<string, Promise<Revision>>();
  /** Number of consecutive losses of a turn without a commit in it. */
  private readonly losses = new Map<string, number>();

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  keyOf(namespace: string): string {
    let hash = 0;
    for (let i = 0; i < namespace.length; i++) hash = (hash * 31 + namespace.charCodeAt(i)) >>> 0;
    return `${turnPrefix}/${hash % turnCount}`;
  }

  /**
   * Acquires a turn, if this process doesn't own it. Usage must be read after this call.
   *
   * @returns the revision from which on this process owns the turn.
   * @throws {StoreError} the turn can't be acquired.
   */
  acquire(key: string): MaybePromise<Revision> {
    const owned = this.owned.get(key);
    if (owned !== undefined) return owned;
    let acquiring = this.acquiring.get(key);
    if (acquiring === undefined) {
      acquiring = this.write(key).finally(() => this.acquiring.delete(key));
      this.acquiring.set(key, acquiring);
    }
    return acquiring;
  }

  /** Records that the turn of a revision is lost, or gives it up because the outcome of a write in it is unknown. */
  lost(key: string, revision: Revision): void {
    if (this.owned.get(key) !== revision) return;
    this.owned.delete(key);
    this.losses.set(key, (this.losses.get(key) ?? 0) + 1);
  }

  /** Records a commit in the turn. */
  used(key: string): void {
    if (this.losses.size > 0) this.losses.delete(key);
  }

  private async write(key: string): Promise<Revision> {
    for (;;) {
      await this.pause(this.losses.get(key) ?? 0);
      const current = await this.store.get(key);
      const result = await this.store.commit(
        current === undefined
          ? { kind: "create", key, draft }
          : { kind: "update", key, expected: current.revision, draft },
      );
      if (result.ok) {
        this.owned.set(key, result.revision);
        return result.revision;
      }
      this.losses.set(key, (this.losses.get(key) ?? 0) + 1);
    }
  }

  /** Waits a random time after repeated losses, so that another process can use its turn. */
  private async pause(losses: number): Promise<void> {
    if (losses < 2) return;
    const ms = randomInt(Math.min(2 ** losses, longestPauseMs));
    await new Promise<void>((resolve) => this.clock.setTimer(resolve, ms));
  }
}
