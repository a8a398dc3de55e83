import type { Clock, Timer } from "../../base/time/clock.ts";
import { firstRevision, revisionOf } from "../entry.ts";
import { closedError, type Feed } from "../feed.ts";
import { Periodic } from "../periodic.ts";
import { type Revision, StoreUnavailableError } from "../store.ts";
import { TimeMarks } from "../time-marks.ts";
import { passCompaction } from "./claim.ts";
import type { Connection } from "./connection.ts";
import { watchEvents } from "./event-watch.ts";
import type { ForeignValues } from "./foreign-values.ts";
import type { Keyspace } from "./keyspace.ts";
import type { SharedRead } from "../shared-read.ts";

const retryFirstMs = 50;
const retryMostMs = 500;
/** Interval of requests for the revision of the cluster, which detect a stalled watch. */
const beatMs = 1_000;
const defaultTimeoutMs = 10_000;

interface Parts {
  readonly connection: Connection;
  readonly keyspace: Keyspace;
  readonly feed: Feed;
  readonly foreign: ForeignValues;
  readonly latest: SharedRead<Revision>;
  readonly clock: Clock;
  /** Returns the time of a revision, in milliseconds since 1970. */
  readonly now: () => number;
  readonly timeoutMs: number | undefined;
}

interface Waiter {
  readonly revision: Revision;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Feeds the subscriptions of a store from one watch of all its keys. A broken watch is reopened at another member, after the last
 * revision.
 */
export class LiveFeed {
  private readonly marks = new TimeMarks();
  private readonly waiters = new Set<Waiter>();
  private watch: { close(): void } | undefined;
  private retry: Timer | undefined;
  private failures = 0;
  private closed = false;
  private knownFloor: Revision = firstRevision;
  /** The newest compaction that was handled: the store has no events between its position and this revision. */
  private compacted: Revision = firstRevision;
  private readonly beats: Periodic;
  /** Revisions of the cluster and of the feed at the last beat. */
  private lastBeat: { readonly newest: Revision; readonly position: Revision } | undefined;

  constructor(private readonly parts: Parts) {
    const { clock, feed, connection } = parts;
    this.marks.add(parts.now(), feed.position);
    // The watch of a member that doesn't answer requests gets no events either.
    connection.onSilence(() => this.reopen());
    this.beats = new Periodic(clock, beatMs, () => this.beat());
    this.open();
  }

  /** The last known floor of the store. */
  get floor(): Revision {
    return this.knownFloor;
  }

  learnFloor(floor: Revision): void {
    if (floor > this.knownFloor) this.knownFloor = floor;
  }

  /** Returns the newest revision that was seen before the time `before`. */
  newestBefore(before: number): Revision {
    return this.marks.newestBefore(before);
  }

  /**
   * Resolves when the watch has delivered everything up to `revision`.
   *
   * @throws {StoreUnavailableError} if it didn't in time.
   */
  reached(revision: Revision): Promise<void> {
    if (this.parts.feed.position >= revision) return Promise.resolve();
    if (this.closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      const limit = this.parts.timeoutMs ?? defaultTimeoutMs;
      const timer = this.parts.clock.setTimer(() => {
        this.waiters.delete(waiter);
        reject(
          new StoreUnavailableError(`etcd's watch did not reach revision ${revision} within ${limit} ms`),
        );
      }, limit);
      const settle = (then: () => void): void => {
        timer.cancel();
        this.waiters.delete(waiter);
        then();
      };
      const waiter: Waiter = {
        revision,
        resolve: () => settle(resolve),
        reject: (error) => settle(() => reject(error)),
      };
      this.waiters.add(waiter);
    });
  }

  /**
   * Resolves when the subscriptions have the event of a write of this server. If the watch doesn't deliver it in time, the
   * subscriptions end, so that none misses an acknowledged write.
   */
  async delivered(revision: Revision): Promise<void> {
    this.marks.add(this.parts.now(), revision);
    if (!this.parts.feed.hasSubscriptions) return;
    try {
      await this.reached(revision);
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.parts.feed.endAll(error);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.watch?.close();
    this.retry?.cancel();
    for (const waiter of this.waiters) waiter.reject(closedError());
    await this.beats.stop();
  }

  /** Reopens the watch if it delivered nothing since the last beat although the revision changed. */
  private async beat(): Promise<void> {
    const { feed, latest } = this.parts;
    const { position } = feed;
    if (
      this.lastBeat !== undefined &&
      position < this.lastBeat.newest &&
      position === this.lastBeat.position
    ) {
      this.reopen();
    }
    this.lastBeat = { newest: await latest.get(), position };
  }

  /** Opens the watch at the current member, unless that is scheduled already. */
  private reopen(): void {
    if (this.watch === undefined) return;
    this.watch.close();
    this.open();
  }

  private open(): void {
    if (this.closed) return;
    const { connection, keyspace, feed, foreign, now } = this.parts;
    const after = revisionOf(Math.max(feed.position, this.compacted));
    this.watch = watchEvents(connection, keyspace, after, {
      events: (batch, upTo) => {
        this.failures = 0;
        this.marks.add(now(), upTo);
        feed.publish(batch, upTo);
        this.release();
      },
      floor: (floor) => this.learnFloor(floor),
      skipped: (key, error) => foreign.report(key, error),
      ended: (reason) => {
        this.watch = undefined;
        if ("compacted" in reason) {
          this.resumeAfterCompaction(reason.compacted).catch(() => this.openLater());
        } else {
          connection.useNextMember();
          this.openLater();
        }
      },
    });
  }

  private release(): void {
    for (const waiter of this.waiters) {
      if (waiter.revision <= this.parts.feed.position) waiter.resolve();
    }
  }

  private openLater(): void {
    if (this.closed) return;
    const delayMs = Math.min(retryFirstMs * 2 ** this.failures, retryMostMs);
    if (this.failures++ === 0) setImmediate(() => this.open());
    else this.retry = this.parts.clock.setTimer(() => this.open(), delayMs);
  }

  /** Handles a compaction beyond the position of the watch; if the store changed meanwhile, events are lost. */
  private async resumeAfterCompaction(compacted: Revision): Promise<void> {
    const { feed, latest, connection, keyspace } = this.parts;
    const newest = await latest.get();
    this.learnFloor(compacted);
    const revision = await passCompaction(connection, keyspace, compacted);
    // Without space, lists remain at a revision below the compaction, and watches must not be ahead of them.
    const reached = revision < compacted ? revision : compacted;
    if (newest > feed.position) feed.skipTo(reached);
    else feed.moveTo(revisionOf(Math.max(reached, newest)));
    this.compacted = compacted;
    this.release();
    this.open();
  }
}
