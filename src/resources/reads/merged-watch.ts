import type { Clock, Timer } from "../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Revision, Subscription } from "../../storage/store.ts";
import type { WatchSource } from "../registry/versioned-storage.ts";
import type { WatchChange } from "../registry/watch-change.ts";
import { MergedSource, nextRun } from "./merged-source.ts";

/** Consecutive changes of one source. */
export interface MergedRun {
  /** Index of the source. */
  readonly source: number;
  readonly changes: readonly WatchChange[];
  /** Whether every change with the revision of the last one has been delivered with this run: a client may resume after it. */
  complete: boolean;
}

/** Receives the changes of several sources in the order of revisions; each call is synchronous. */
export interface MergedObserver {
  /**
   * Every change of every source up to and including `upTo` has been delivered; parts of the next revision may be in the runs. Of equal
   * revisions the first source is first.
   */
  changes(runs: readonly MergedRun[], upTo: Revision): void;
  /** A source has ended, and with it the merged watch. @param source its index; undefined if too many changes wait. */
  ended(error: Error, source: number | undefined): void;
  /** Awaited between portions of past changes. */
  drained?(): Promise<void>;
}

export interface MergeOptions {
  /** The revision after which all sources begin. */
  readonly after: Revision;
  /** The latest revision of the store when the watch begins. A source that hasn't reached it is reading the history. */
  readonly latest: Revision;
  readonly clock: Clock;
  /** Maximum size of the objects that wait for other sources, in bytes, without the history that flow control holds back. */
  readonly maxBytes?: number;
}

const defaultMaxBytes = 8 * 1024 * 1024;
/** Turns of the event loop in which a source that is behind may catch up by itself, with the same batches as other watches. */
const patientTurns = 8;
/** Milliseconds after which a source that is behind is looked at again. */
const retryMs = 50;

/**
 * Merges watches of one store in the order of revisions. The changes of a source wait until every other source has reached their revision.
 * Batches that need not be split are passed on as they are, so that watches share their encodings.
 */
export class MergedWatch implements Subscription {
  private readonly sources: readonly MergedSource[];
  private readonly maxBytes: number;
  private mergeIsDue = false;
  private retry: Timer | undefined;
  /** Number of merges since the last one that delivered changes, while changes wait. */
  private attempts = 0;
  private closed = false;
  /** Every change up to here has been delivered. */
  private delivered: Revision;

  /** @param count number of sources. */
  constructor(
    private readonly options: MergeOptions,
    private readonly observer: MergedObserver,
    count: number,
  ) {
    this.maxBytes = options.maxBytes ?? defaultMaxBytes;
    this.delivered = options.after;
    this.sources = Array.from({ length: count }, () => new MergedSource(options.after));
  }

  /** Subscribes to the sources; called once. If one throws, the others are closed. */
  start(sources: readonly WatchSource[]): this {
    try {
      for (const [index, subscribe] of sources.entries()) this.subscribe(index, subscribe);
    } catch (error) {
      this.close();
      throw error;
    }
    return this;
  }

  private subscribe(index: number, subscribe: WatchSource): void {
    if (this.closed) return;
    const source = this.sources[index]!;
    source.subscription = subscribe({
      changes: (changes, upTo) => this.receive(source, changes, upTo),
      ended: (error) => this.end(error, index),
      drained: () => this.drained(source),
    });
    if (this.closed) source.subscription.close();
  }

  get position(): Revision {
    return this.closed || this.waits ? this.delivered : this.reached();
  }

  /** See {@link Subscription.sync}: synchronizes every source and merges what they deliver. */
  sync(): MaybePromise<Revision> {
    let synced: MaybePromise<unknown>;
    for (const { subscription } of this.sources) synced = andThen(synced, () => subscription?.sync());
    return andThen(synced, () => {
      this.merge();
      return this.position;
    });
  }

  close(): void {
    if (this.closed) return;
    this.delivered = this.position;
    this.closed = true;
    this.retry?.cancel();
    for (const source of this.sources) source.close();
  }

  /** Whether changes wait for other sources. */
  private get waits(): boolean {
    return this.sources.some(({ pending }) => pending.length > 0);
  }

  /** The revision that every source has reached. */
  private reached(): Revision {
    let reached = Infinity;
    for (const { position } of this.sources) if (position < reached) reached = position;
    return reached as Revision;
  }

  private receive(source: MergedSource, changes: readonly WatchChange[], upTo: Revision): void {
    if (this.closed) return;
    const [first] = changes;
    if (first !== undefined && !this.waits) {
      // The position of this source already includes the changes.
      this.delivered = Math.max(
        this.delivered,
        Math.min(this.reached(), first.event.revision - 1),
      ) as Revision;
    }
    source.receive(changes, upTo);
    if (first !== undefined || this.waits) this.mergeSoon();
  }

  /** Waits until the past changes of a source are delivered and the client has read them. */
  private async drained(source: MergedSource): Promise<void> {
    await source.delivered();
    await this.observer.drained?.();
    // The source may become live without further changes.
    if (!this.closed) this.mergeInNextTurn();
  }

  /** Merges after the current delivery of the store, which may continue with the other sources. */
  private mergeSoon(): void {
    if (this.mergeIsDue) return;
    this.mergeIsDue = true;
    queueMicrotask(() => this.mergeDue());
  }

  private mergeInNextTurn(): void {
    if (this.mergeIsDue) return;
    this.mergeIsDue = true;
    setImmediate(() => this.mergeDue());
  }

  private mergeDue(): void {
    this.mergeIsDue = false;
    this.merge();
  }

  private merge(): void {
    if (this.closed) return;
    this.retry?.cancel();
    this.deliver();
    if (!this.closed && this.waits) this.deliverPart();
    if (this.closed || !this.waits) return;
    this.attempts++;
    if (this.attempts > 1 && this.waitingBytes() > this.maxBytes) {
      const message =
        "the events of one resource type waited too long for those of another; resume the stream";
      return this.end(new StatusError("Timeout", message), undefined);
    }
    if (this.attempts <= patientTurns) return this.mergeInNextTurn();
    this.syncSources();
    if (this.closed || this.mergeIsDue) return;
    this.retry = this.options.clock.setTimer(() => this.mergeSoon(), retryMs);
  }

  /** Size of the waiting objects of sources that aren't held back. */
  private waitingBytes(): number {
    let bytes = 0;
    for (const source of this.sources) if (!source.isHeldBack) bytes += source.pendingBytes;
    return bytes;
  }

  /** Synchronizes the sources that are behind. Those that read the history continue by themselves, one portion at a time. */
  private syncSources(): void {
    const { latest } = this.options;
    const needed = Math.max(...this.sources.map(({ lastRevision }) => lastRevision));
    for (const [index, source] of this.sources.entries()) {
      if (this.closed || source.isSyncing || source.position < latest || source.position >= needed) continue;
      const failed = (error: unknown) => this.end(error as Error, index);
      try {
        const synced = source.sync(() => this.mergeSoon());
        if (synced instanceof Promise) synced.catch(failed);
        else this.mergeSoon();
      } catch (error) {
        failed(error);
      }
    }
  }

  private deliver(): void {
    const upTo = this.reached();
    const runs: MergedRun[] = [];
    let lastRevision = 0;
    for (let run; (run = nextRun(this.sources, upTo)) !== undefined;) {
      const before = runs.at(-1);
      if (before !== undefined) before.complete = run.changes[0]!.event.revision > lastRevision;
      lastRevision = run.changes.at(-1)!.event.revision;
      runs.push({ ...run, complete: true });
    }
    if (runs.length === 0) return;
    this.pass(runs, upTo);
  }

  /**
   * Delivers what has been received of a change of grants that isn't complete, if no earlier change can follow. Its source sends the rest
   * only after that, so waiting for the whole would last for ever.
   */
  private deliverPart(): void {
    const upTo = this.reached();
    const revision = upTo + 1;
    // Sources before this one have all their changes of the revision; later ones follow when it is complete.
    const index = this.sources.findIndex(({ position }) => position === upTo);
    if (this.sources[index]?.nextRevision !== revision) return;
    const runs: MergedRun[] = [];
    for (const [number, source] of this.sources.slice(0, index + 1).entries()) {
      while (source.nextRevision === revision)
        runs.push({ source: number, changes: source.take(revision + 1), complete: false });
    }
    this.pass(runs, upTo);
  }

  private pass(runs: readonly MergedRun[], upTo: Revision): void {
    this.attempts = 0;
    this.delivered = upTo;
    this.observer.changes(runs, upTo);
    for (const source of this.sources) source.releaseIfDelivered();
  }

  private end(error: Error, source: number | undefined): void {
    if (this.closed) return;
    // The source that ended has nothing after its position, so what is complete until there is delivered first.
    this.deliver();
    if (this.closed) return;
    this.close();
    this.observer.ended(error, source);
  }
}
