import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../base/time/clock.ts";
import { firstRevision, revisionOf } from "../entry.ts";
import type { Feed, PastSlice } from "../feed.ts";
import { prefixEnd } from "../keys.ts";
import { Periodic } from "../periodic.ts";
import { SharedRead } from "../shared-read.ts";
import {
  type Revision,
  RevisionCompactedError,
  StoreDamagedError,
  type StoreError,
  type StoreEvent,
  StoreUnavailableError,
} from "../store.ts";
import { TimeMarks } from "../time-marks.ts";
import type { Connection } from "./connection.ts";
import type { EntryCache } from "./entry-cache.ts";
import { assertComplete, type LogPart, logPartOf } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** A committed batch of this store object. */
export interface OwnBatch {
  readonly id: string;
  /** The last revision before the batch, and its own last revision. */
  readonly base: Revision;
  readonly last: Revision;
  readonly events: readonly StoreEvent[];
}

/** Interval at which the log is read without a notification, in milliseconds. */
const pollMs = 1000;
/** The same while notifications don't arrive, as through a connection pooler. */
const silentPollMs = 100;
/** Pause before the log is read again after a failure, in milliseconds. */
const retryMs = 50;
const seenBatches = 8;
/** Number of polls that find changes without a notification before notifications count as missing. */
const silentPolls = 3;

interface Parts {
  readonly connection: Connection;
  readonly statements: Statements;
  readonly feed: Feed;
  readonly cache: EntryCache;
  readonly clock: Clock;
  /** Returns the time of a revision, in milliseconds since 1970. */
  readonly now: () => number;
  /** Id of the batch at the position of the feed. */
  readonly newest: string;
  readonly warn: (message: string) => void;
  /** Resolves when a batch that this store is committing is published; undefined for other batches. */
  readonly underWay: (id: string) => Promise<void> | undefined;
}

/**
 * Follows the log of the store: publishes each event once, in the order of the revisions. Own batches are published from memory; the
 * batches of other servers are read from the database, when a notification or the poll shows that there are some, or when a reader needs
 * them.
 */
export class LogFollower {
  private readonly marks = new TimeMarks();
  private knownFloor: Revision = firstRevision;
  /** The newest batch that was published, and its last revision. The database must have it as long as its history isn't compacted. */
  private seen: { readonly id: string; readonly revision: Revision };
  /** The last batches that were published: own batches may be published between the read of the newest batch and its answer. */
  private lately: { readonly id: string; readonly revision: Revision }[];
  private readonly tail: SharedRead<Revision>;
  private readonly polls: Periodic;
  private fastPolls: Periodic | undefined;
  private skipping: Promise<Revision> | undefined;
  /** Whether events of other servers were read since the last poll. */
  private hasForeignEvents = false;
  private unannounced = 0;
  private lastNotifiedMs = 0;

  constructor(private readonly parts: Parts) {
    const { clock, feed, now, newest } = parts;
    this.seen = { id: newest, revision: feed.position };
    this.lately = [this.seen];
    this.marks.add(now(), feed.position);
    this.tail = new SharedRead(
      () => this.readTail(),
      () => new Promise((resolve) => setImmediate(resolve)),
    );
    this.polls = new Periodic(clock, pollMs, () => this.poll());
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

  /** Returns the newest revision of the store at some time after this call. Concurrent callers share one statement. */
  latest(): Promise<Revision> {
    return this.tail.get();
  }

  /** Publishes everything that was committed before this call. */
  async refresh(): Promise<void> {
    await this.catchUp(await this.tail.get());
  }

  /** Handles the notification of another server. */
  async notified(): Promise<void> {
    this.unannounced = 0;
    this.lastNotifiedMs = this.parts.clock.monotonicNow();
    const { fastPolls } = this;
    this.fastPolls = undefined;
    await Promise.all([this.refresh(), fastPolls?.stop()]);
  }

  /**
   * Publishes a batch of this store, after everything before it. If the events of other servers before it can't be read in time, the
   * subscriptions end, so that none misses an acknowledged write.
   */
  async publishOwn(batch: OwnBatch): Promise<void> {
    const { feed, clock, connection } = this.parts;
    const endMs = clock.monotonicNow() + connection.timeoutMs;
    while (feed.position < batch.base) {
      try {
        await this.catchUp(batch.base);
      } catch (error) {
        const isLasting = !(error instanceof StoreUnavailableError) || clock.monotonicNow() >= endMs;
        if (isLasting) return feed.endAll(asStoreError(error));
        await delay(retryMs);
      }
    }
    this.publish(batch.events, batch.last, true);
    this.see(batch.id, batch.last);
  }

  /**
   * Reads past events under `prefix` after revision `after`, up to `upTo` or the size of one part.
   *
   * @throws {RevisionCompactedError} if the history no longer has them.
   */
  async readPast(prefix: string, after: Revision, upTo: Revision): Promise<PastSlice> {
    const range = [Buffer.from(prefix), Buffer.from(prefixEnd(prefix))];
    const { floor, reached, events } = await this.readLog("logOfPrefix", after, [
      upTo,
      ...this.seenValues,
      ...range,
    ]);
    this.learnFloor(floor);
    if (after < floor) throw new RevisionCompactedError(after, floor);
    return { events, upTo: reached };
  }

  async close(): Promise<void> {
    await Promise.all([this.polls.stop(), this.fastPolls?.stop()]);
  }

  private get seenValues(): readonly [string, number] {
    return [this.seen.id, this.seen.revision];
  }

  /** Reads the log, which other servers may have extended without a notification. */
  private async poll(): Promise<void> {
    const { feed, clock, warn } = this.parts;
    const before = feed.position;
    await this.refresh();
    const wasNotified = clock.monotonicNow() - this.lastNotifiedMs < 2 * pollMs;
    if (feed.position === before || wasNotified || !this.hasForeignEvents) return;
    this.hasForeignEvents = false;
    if (++this.unannounced !== silentPolls) return;
    this.fastPolls ??= new Periodic(clock, silentPollMs, () => this.refresh());
    warn(
      "notifications of the database don't arrive, as through a connection pooler in transaction mode: " +
        `changes of other servers are seen up to ${silentPollMs} ms later; connect to the database directly`,
    );
  }

  private async catchUp(target: Revision): Promise<void> {
    const { feed } = this.parts;
    while (feed.position < target) {
      const before = feed.position;
      await this.readPart(target);
      if (feed.position <= before)
        throw new StoreDamagedError(`the log has nothing after revision ${before}, up to ${target}`);
    }
  }

  /**
   * Returns the newest revision of the store, and publishes what came since the position, at most one part of the log. Usually there is
   * nothing, or only a batch of this store whose answer is still to come.
   */
  private async readTail(): Promise<Revision> {
    const { connection, statements, feed, underWay } = this.parts;
    const before = feed.position;
    const [row] = await connection.read(statements.newest);
    const [latest, floor, id] = (row ?? []) as unknown as [Revision, Revision, string];
    this.learnFloor(floor);
    if (!this.wasSeen(id, latest)) await underWay(id);
    // A batch below the position at the start of the read means that later ones are lost.
    if (this.wasSeen(id, latest) && latest >= before && latest <= feed.position) return latest;
    return this.readPart(revisionOf(Number.MAX_SAFE_INTEGER));
  }

  private async readPart(upTo: Revision): Promise<Revision> {
    const { feed } = this.parts;
    const after = feed.position;
    const part = await this.readLog("log", after, [upTo, ...this.seenValues]);
    if (part.floor > this.knownFloor) this.learnFloor(part.floor);
    if (!part.isKnown || part.latest < after)
      return (this.skipping ??= this.skipLost(after).finally(() => (this.skipping = undefined)));
    if (after < part.floor) {
      this.skip(part);
      return part.latest;
    }
    assertComplete(part, after);
    if (part.events.length > 0) this.hasForeignEvents = true;
    this.publish(part.events, part.reached, false);
    if (part.reached === part.latest) this.see(part.newest, part.latest);
    return part.latest;
  }

  private async readLog(
    name: "log" | "logOfPrefix",
    after: Revision,
    values: readonly unknown[],
  ): Promise<LogPart> {
    const { connection, statements } = this.parts;
    const rows = await connection.read({ ...statements[name], values: [after, ...values] });
    if (rows.length === 0) throw new StoreDamagedError("the table line of the store has no row");
    return logPartOf(rows, after);
  }

  private publish(events: readonly StoreEvent[], upTo: Revision, isOwn: boolean): void {
    const { feed, cache, now } = this.parts;
    const { position } = feed;
    if (upTo <= position) return;
    const first = events[0];
    const unpublished =
      first === undefined || first.revision > position
        ? events
        : events.filter((event) => event.revision > position);
    for (const event of unpublished) cache.apply(event, isOwn);
    this.marks.add(now(), upTo);
    feed.publish(unpublished, upTo);
  }

  private see(id: string, revision: Revision): void {
    if (revision <= this.seen.revision) return;
    this.seen = { id, revision };
    this.lately.push(this.seen);
    if (this.lately.length > seenBatches) this.lately.shift();
  }

  /** Whether a batch is one of the last published ones. */
  private wasSeen(id: string, revision: Revision): boolean {
    return this.lately.some((batch) => batch.id === id && batch.revision === revision);
  }

  /** Continues at the floor, which is above the position: the events up to there are gone. */
  private skip({ floor }: LogPart): void {
    const { feed, cache } = this.parts;
    cache.clear();
    feed.skipTo(floor);
  }

  /**
   * Handles the loss of batches that this server has seen: the database was replaced by a standby that didn't have them, or restored. Their
   * revisions must not be assigned again, so the store moves above them, and subscriptions end.
   */
  private async skipLost(after: Revision): Promise<Revision> {
    const { connection, statements, feed, warn } = this.parts;
    const id = randomUUID();
    const seen = Math.max(after, this.seen.revision);
    const [row] = await connection.read({ ...statements.skip, values: [id, seen] });
    const revision = row?.[0] as Revision | undefined;
    if (revision === undefined) throw new StoreUnavailableError("the store's revision could not be moved");
    warn(
      `the database has lost writes up to revision ${seen}, which this server has seen: a standby without them took over, or ` +
        `it was restored; continuing at revision ${revision}, and watches start again`,
    );
    this.learnFloor(revision);
    this.parts.cache.clear();
    feed.skipTo(revision);
    this.seen = { id, revision };
    this.lately = [this.seen];
    return revision;
  }
}

function asStoreError(error: unknown): StoreError {
  return error instanceof StoreUnavailableError
    ? error
    : new StoreUnavailableError(`the log could not be read: ${String(error)}`, { cause: error });
}
