import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import type { Clock } from "../../../base/time/clock.ts";
import { StoreDamagedError } from "../../store.ts";
import { dataFile } from "../files.ts";
import { encodeState, type State } from "../layout.ts";
import { soundStateIn } from "../stored-state.ts";
import {
  identityOf,
  MustSync,
  noIdentity,
  type SyncPoint,
  SyncPointFile,
  unsyncedTransaction,
} from "./sync-point.ts";
import type { WriterLock } from "../writer-lock.ts";

/** Number of revisions that unsynced commits may assign before the next sync point. */
const reservedRevisions = 1_000_000;
/** Number of unsynced writes from which on a sync begins early, and from which on unsynced commits wait for it: bounds the file. */
const syncAfterWrites = 16_384;
const waitAfterWrites = 4 * syncAfterWrites;
/** Time after a commit of another process, or a failed one, during which commits are synced. */
const retreatMs = 1000;
/** Two commits in a row that block the event loop longer than this are followed by synced ones, which don't, for ten times as long. */
const stallMs = 20;
const stallFactor = 10;
/** How often a locked transaction is tried while another process has the write lock, and the pause in between. */
const lockAttempts = 200;
const lockPauseMs = 5;

/** The databases and files of an environment that deferred syncs need. */
export interface DeferrableEnvironment {
  readonly dir: string;
  readonly root: RootDatabase<Buffer, string>;
  readonly meta: Database<Buffer, string>;
  readonly lock: WriterLock;
  readonly pageBytes: number;
  readonly clock: Clock;
}

/** A snapshot of a committed state, whose pages no commit overwrites while it is held. */
interface Snapshot {
  readonly transaction: ReturnType<RootDatabase["useReadTransaction"]>;
  readonly meta: Buffer;
  readonly number: number;
  readonly revision: number;
}

/**
 * Commits of a folder that are visible before they are synced. At most one process defers syncs, the *owner* of the open sync point
 * (`sync-point.ts`). It holds a read transaction of the synced state, so that the pages of this state stay
 * on the disk; after a power failure the store goes back to it (`sync-recovery.ts`).
 *
 * - The state record has format 3 as long as a sync point is open. A process that isn't the owner syncs everything and closes the
 *   sync point before it writes, with the write lock held; also if the owner was killed.
 * - A transaction of the owner that syncs before it becomes visible first adds its number to the sync point. Its own sync
 *   writes both, so it needs no further one. Afterwards the sync point advances before the next unsynced commit.
 */
export class DeferredSyncs {
  private opened: SyncPointFile | undefined;
  /** The sync point of this process as it is in the file; undefined if this process isn't the owner. */
  private point: { readonly value: SyncPoint; readonly bytes: Buffer } | undefined;
  /** {@link SyncPoint.ceiling} of the newest sync point that is on the disk. */
  private ceiling = 0;
  /** Whether commits may be unsynced: no synced transaction has followed the sync point on the disk. */
  private isReady = false;
  private pin: Snapshot | undefined;
  private advancing: Promise<void> | undefined;
  private retreatUntil = Number.NEGATIVE_INFINITY;
  private hasStalled = false;
  /** Number of asynchronous transactions of this process; a synchronous one would block the event loop until they end. */
  private transactions = 0;
  private readonly idle: (() => void)[] = [];
  /** Unsynced writes since the sync point, and since the one that is being written. */
  private unsynced = { writes: 0, since: 0 };
  private laterUnsynced = { writes: 0, since: 0 };
  /** Whether a transaction in progress syncs everything before it. */
  private entered = false;
  /** The error of all writes after a failed sync. What was committed since the sync point may be lost although it can be read. */
  failure: StoreDamagedError | undefined;

  constructor(private readonly environment: DeferrableEnvironment) {}

  /** Whether a sync should begin before its time, because many writes are unsynced. */
  get isDue(): boolean {
    return (this.advancing === undefined ? this.unsynced : this.laterUnsynced).writes >= syncAfterWrites;
  }

  /** Whether acknowledged writes of this process aren't synced. */
  get hasUnsynced(): boolean {
    return this.unsynced.writes > 0;
  }

  /** Runs an asynchronous transaction of the environment that is synced before it is visible. */
  async track<T>(transaction: () => Promise<T>): Promise<T> {
    this.transactions++;
    try {
      const result = await transaction();
      if (this.entered) this.unsynced = this.laterUnsynced = { writes: 0, since: 0 };
      this.entered = false;
      return result;
    } catch (error) {
      this.retreat();
      throw error;
    } finally {
      if (--this.transactions === 0) for (const resolve of this.idle.splice(0)) resolve();
    }
  }

  /**
   * Prepares a transaction that is synced before it is visible. Must be called in it before its first put, and only if there is one.
   *
   * @param state the current state.
   * @returns the `unsyncedSince` of the state that the transaction writes.
   * @throws {StoreDamagedError} a sync has failed.
   */
  enterSynced({ unsyncedSince }: Pick<State, "unsyncedSince">): number | undefined {
    if (this.failure !== undefined) throw this.failure;
    if (unsyncedSince !== undefined && this.isOwner()) {
      const number = this.environment.root.getWriteTxnId();
      const { value } = this.point!;
      const [previous, last] = value.synced;
      this.isReady = false;
      this.entered = true;
      this.write({ ...value, synced: [last === number ? previous : last, number] });
      return 0;
    }
    this.disown();
    if (unsyncedSince !== undefined) this.closePoint();
    return undefined;
  }

  /**
   * Runs a transaction that isn't synced, without yielding to the event loop.
   *
   * @param writes number of its writes.
   * @param now current time in milliseconds since 1970.
   * @param work receives the `unsyncedSince` of the state that the transaction writes.
   * @throws {MustSync} if it must be synced; nothing was written.
   */
  commit(writes: number, now: number, work: (unsyncedSince: number) => void): void {
    const { root, lock, clock } = this.environment;
    if (!this.isReady || this.transactions > 0 || lock.holder() !== undefined) throw new MustSync();
    const since = this.unsynced.writes === 0 ? now : this.unsynced.since;
    let began = false;
    const start = clock.monotonicNow();
    try {
      root.transactionSync(() => {
        if (!this.isOwner() || this.state().revision + writes > this.ceiling) throw new MustSync();
        began = true;
        work(since);
      }, unsyncedTransaction);
      // A busy disk makes writes to the system's memory wait.
      const blockedMs = clock.monotonicNow() - start;
      if (blockedMs > stallMs && this.hasStalled) this.retreat(blockedMs * stallFactor);
      this.hasStalled = blockedMs > stallMs;
    } catch (error) {
      // After some failures lmdb-js can't begin a synchronous transaction; an asynchronous one reports them.
      if (began) this.retreat();
      throw error;
    }
    this.unsynced = { writes: this.unsynced.writes + writes, since };
    const { laterUnsynced: later } = this;
    this.laterUnsynced = { writes: later.writes + writes, since: later.writes === 0 ? now : later.since };
  }

  /**
   * Resolves with true when {@link commit} can be called: without yielding in between, it fails only because of another process.
   *
   * @param isNeeded whether there is still something to commit; otherwise the result is false.
   * @throws {MustSync} if commits must be synced at present.
   * @throws {StoreDamagedError} a sync has failed.
   */
  async ready(isNeeded: () => boolean): Promise<boolean> {
    while (isNeeded()) {
      if (this.transactions > 0) await this.withoutTransactions();
      else if (this.isReady && this.unsynced.writes < waitAfterWrites) return true;
      else if (this.environment.clock.monotonicNow() < this.retreatUntil) throw new MustSync();
      else await this.advance();
    }
    return false;
  }

  /**
   * Syncs every commit of before the call.
   *
   * @throws {StoreDamagedError} a sync has failed.
   */
  async sync(): Promise<void> {
    try {
      // One that began before the call may lack the last commits.
      await this.advancing;
      if (this.hasUnsynced) await this.advance();
    } catch (error) {
      if (!(error instanceof MustSync)) throw error;
      if (this.hasUnsynced) await this.end();
    }
  }

  /** Syncs everything and ends the deferral, when the environment is closed. */
  async close(): Promise<void> {
    if (this.failure === undefined && (this.point !== undefined || this.hasUnsynced)) {
      await this.sync();
      await this.end();
    }
    this.disown();
  }

  /** Syncs the commits of all processes in a transaction that gives the state format 2 again. */
  async end(): Promise<void> {
    const { root, meta } = this.environment;
    await this.track(() =>
      root.transaction(() => {
        const { unsyncedSince, ...state } = this.state();
        if (unsyncedSince === undefined) return;
        this.closePoint();
        meta.putSync("state", encodeState({ ...state, batch: 0 }));
      }),
    );
    this.disown();
  }

  /** Closes the file, after the environment. */
  release(): void {
    if (this.opened !== undefined) closeSync(this.opened.file);
    this.opened = undefined;
  }

  /**
   * Returns since when commits of any process may not be synced, in milliseconds since 1970; 0 if all are, undefined if none is
   * deferred.
   */
  unsyncedSince({ unsyncedSince, revision }: State): number | undefined {
    if (unsyncedSince === undefined || unsyncedSince === 0) return unsyncedSince;
    if (this.point !== undefined) return this.hasUnsynced ? this.unsynced.since : 0;
    return this.file.read()?.revision === revision ? 0 : unsyncedSince;
  }

  private get file(): SyncPointFile {
    const { dir, pageBytes } = this.environment;
    return (this.opened ??= new SyncPointFile(openSync(join(dir, dataFile), "r+"), pageBytes));
  }

  private advance(): Promise<void> {
    return (this.advancing ??= this.moveSyncPoint().finally(() => (this.advancing = undefined)));
  }

  /** Syncs the current state and makes it the sync point. */
  private async moveSyncPoint(): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (this.point === undefined) await this.becomeOwner();
    const snapshot = await this.locked(() => this.take());
    try {
      this.laterUnsynced = { writes: 0, since: 0 };
      if (this.unsynced.writes > 0) await this.syncFile();
      await this.locked(() => this.writePoint(snapshot));
      await this.syncFile();
    } catch (error) {
      snapshot.transaction.done();
      throw error;
    }
    if (this.point === undefined) {
      // A transaction of this process noticed meanwhile that another process ended the deferral.
      snapshot.transaction.done();
      return;
    }
    this.pin?.transaction.done();
    this.pin = snapshot;
    this.ceiling = this.point.value.ceiling;
    this.isReady = this.point.value.synced[1] === 0;
    this.unsynced = this.laterUnsynced;
  }

  /** Gives the state format 3, so that other processes notice the deferral before it begins. */
  private async becomeOwner(): Promise<void> {
    const { root, meta } = this.environment;
    await this.track(() =>
      root.transaction(() => {
        const state = this.state();
        this.enterSynced(state);
        meta.putSync("state", encodeState({ ...state, unsyncedSince: 0, batch: 0 }));
      }),
    );
  }

  /** Must be called with the write lock held. */
  private take(): Snapshot {
    const { root } = this.environment;
    const state = this.state();
    // Undefined: another process ended the deferral.
    if (state.unsyncedSince === undefined || (this.point !== undefined && !this.isOwner())) this.giveUp();
    const number = root.getWriteTxnId() - 1;
    root.resetReadTxn();
    const transaction = root.useReadTransaction();
    root.resetReadTxn();
    return { transaction, meta: this.file.readMeta(number), number, revision: state.revision };
  }

  /** Must be called with the write lock held. */
  private writePoint({ meta, number, revision }: Snapshot): void {
    const state = this.state();
    const isFree = this.point === undefined && this.file.read()?.isOpen !== true;
    if (state.unsyncedSince === undefined || !(isFree || this.isOwner())) this.giveUp();
    const identity = identityOf(this.file.file);
    if (identity === undefined) this.giveUp();
    // A number above the last commit is of a transaction that failed.
    const committed = this.environment.root.getWriteTxnId() - 1;
    const [previous, last] = (this.point?.value.synced ?? [0, 0]).map((one) =>
      one > number && one <= committed ? one : 0,
    ) as [number, number];
    this.write({
      isOpen: true,
      isRestored: false,
      identity,
      meta,
      revision,
      ceiling: state.revision + reservedRevisions,
      synced: [previous, last],
    });
  }

  /** Runs work with the write lock held, in a transaction that writes nothing. */
  private async locked<T>(work: () => T): Promise<T> {
    const { root, lock } = this.environment;
    for (let attempt = 0; attempt < lockAttempts; attempt++) {
      await this.withoutTransactions();
      if (lock.holder() === undefined) return root.transactionSync(work, unsyncedTransaction);
      await new Promise((resolve) => setTimeout(resolve, lockPauseMs));
    }
    return this.giveUp();
  }

  private async withoutTransactions(): Promise<void> {
    while (this.transactions > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  /** @throws {StoreDamagedError} and lets all writes fail, because the system may have dropped the pages that it couldn't write. */
  private async syncFile(): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) =>
        fdatasync(this.file.file, (error) => (error === null ? resolve() : reject(error))),
      );
    } catch (error) {
      this.failure = new StoreDamagedError(
        `the writes to ${this.environment.dir} could not be synced (${String(error)}): check the disk, then restart the server; ` +
          "it continues with the last synced state",
        { cause: error },
      );
      if (this.point !== undefined) this.write({ ...this.point.value, identity: noIdentity });
      throw this.failure;
    }
  }

  /** Syncs everything and declares the meta pages valid. Must be called with the write lock held. */
  private closePoint(): void {
    const point = this.file.read();
    if (point === undefined || !point.isOpen) return;
    if (!point.identity.equals(identityOf(this.file.file) ?? noIdentity))
      throw new StoreDamagedError(
        `writes to ${this.environment.dir} could not be synced: end all its servers, check the disk, then start them again`,
      );
    fdatasyncSync(this.file.file);
    this.file.write({ ...point, isOpen: false });
    fdatasyncSync(this.file.file);
    this.entered = true;
  }

  /** Whether the file has the sync point that this process wrote. */
  private isOwner(): boolean {
    return this.point !== undefined && this.file.has(this.point.bytes);
  }

  private write(point: SyncPoint): void {
    this.point = { value: point, bytes: this.file.write(point) };
  }

  private state(): State {
    return soundStateIn(this.environment.meta.getBinaryFast("state"));
  }

  private retreat(ms = retreatMs): void {
    this.isReady = false;
    this.retreatUntil = this.environment.clock.monotonicNow() + ms;
  }

  private giveUp(): never {
    this.disown();
    this.retreat();
    throw new MustSync();
  }

  private disown(): void {
    this.isReady = false;
    this.point = undefined;
    this.pin?.transaction.done();
    this.pin = undefined;
  }
}
