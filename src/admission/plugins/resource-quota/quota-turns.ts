import { randomInt } from "node:crypto";
import type { Clock } from "../../../base/clock.ts";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import type { Revision, Store } from "../../../storage/store.ts";

/** Prefix of the turns in the store; no resource type is served from it. */
const turnPrefix = "/core/quota-turns/";

/** How many turns there are; namespaces share them, so that none is left behind by a namespace that is gone. */
const turnCount = 64;
/** The longest pause before a turn is taken that was lost several times in a row. */
const longestPauseMs = 64;

const head = '{"revision":"';
const draft = {
  header: Buffer.from("{}"),
  body: Buffer.from(`${head}"}`),
  revisionAt: Buffer.byteLength(head),
};

/**
 * Whose turn it is to charge the quotas of a namespace, among the processes over one store. A turn is a key of the store; who
 * has written it last has it, until another process writes it. Whatever is charged is written under the condition that the
 * turn is still one's own. So who has taken a turn, and has then read what is used, knows of every charge that is ever
 * committed in between: those of others before the turn, and its own since.
 *
 * While one process does all the charging it keeps its turns, and they cost nothing.
 */
export class QuotaTurns {
  private readonly held = new Map<string, Revision>();
  private readonly taking = new Map<string, Promise<Revision>>();
  /** How often in a row a turn was lost before anything was committed in it. */
  private readonly losses = new Map<string, number>();

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /** The key of a namespace's turn. */
  keyOf(namespace: string): string {
    let hash = 0;
    for (let i = 0; i < namespace.length; i++) hash = (hash * 31 + namespace.charCodeAt(i)) >>> 0;
    return `${turnPrefix}/${hash % turnCount}`;
  }

  /**
   * The revision since which this process has the turn; takes it where another has it. What is used must be read after this.
   *
   * @throws {StoreError} it could not be taken.
   */
  hold(key: string): MaybePromise<Revision> {
    const held = this.held.get(key);
    if (held !== undefined) return held;
    let taking = this.taking.get(key);
    if (taking === undefined) {
      taking = this.take(key).finally(() => this.taking.delete(key));
      this.taking.set(key, taking);
    }
    return taking;
  }

  /** The turn that was had since `revision` is over, or is to end, as what was written in it isn't known. */
  lost(key: string, revision: Revision): void {
    if (this.held.get(key) !== revision) return;
    this.held.delete(key);
    this.losses.set(key, (this.losses.get(key) ?? 0) + 1);
  }

  /** Something was committed in the turn. */
  used(key: string): void {
    if (this.losses.size > 0) this.losses.delete(key);
  }

  private async take(key: string): Promise<Revision> {
    for (;;) {
      await this.pause(this.losses.get(key) ?? 0);
      const current = await this.store.get(key);
      const result = await this.store.commit(
        current === undefined
          ? { kind: "create", key, draft }
          : { kind: "update", key, expected: current.revision, draft },
      );
      if (result.ok) {
        this.held.set(key, result.revision);
        return result.revision;
      }
      this.losses.set(key, (this.losses.get(key) ?? 0) + 1);
    }
  }

  /** Lets another process use its turn, where this one lost it before it could. */
  private async pause(losses: number): Promise<void> {
    if (losses < 2) return;
    const ms = randomInt(Math.min(2 ** losses, longestPauseMs));
    await new Promise<void>((resolve) => this.clock.setTimer(resolve, ms));
  }
}
