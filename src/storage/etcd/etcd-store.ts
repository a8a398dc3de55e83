import { revisionOf } from "../entry.ts";
import { closedError, Feed } from "../feed.ts";
import { assertKey, assertPrefix, compareKeys } from "../keys.ts";
import { compactionIntervalMs, defaultRetentionMs, type StoreOptions } from "../options.ts";
import { PendingOperations } from "../pending-operations.ts";
import { Periodic } from "../periodic.ts";
import type { SharedValues } from "../shared-values.ts";
import { steadyTime } from "../time-marks.ts";
import {
  type CommitResult,
  type DiscardResult,
  type Entry,
  type Listener,
  type RangeOptions,
  type RangePage,
  type Revision,
  RevisionCompactedError,
  RevisionTooNewError,
  type Store,
  type StoreError,
  type SubscribeOptions,
  type Subscription,
  type TransactionResult,
  type Write,
} from "../store.ts";
import { assertTransaction } from "../transaction.ts";
import { claimKeyspace, passCompaction } from "./claim.ts";
import { CompactedSignal, Connection, type ConnectionOptions } from "./connection.ts";
import { floorOf, readCompactRevision, readPast } from "./event-watch.ts";
import { ForeignValues, unlessForeign } from "./foreign-values.ts";
import { Keyspace } from "./keyspace.ts";
import { LiveFeed } from "./live-feed.ts";
import type { KeyValue } from "./messages.ts";
import { EtcdSharedValues } from "./shared-values.ts";
import { SharedRead } from "../shared-read.ts";
import { decodeEntry } from "./value.ts";
import { etcdTransactionLimits, limitsFor, Writer } from "./writer.ts";

/** Options of a store in an etcd cluster. */
export interface EtcdStoreOptions extends StoreOptions, ConnectionOptions {
  /** Prefix of the store's keys, such as `/plinth`; servers with the same prefix share one store. */
  readonly prefix: string;
  /** Maximum memory for recent events in bytes; default 16 MiB. */
  readonly recentEventsBytes?: number | undefined;
  /** Receives a message for each value of another program under the prefix, which the store skips. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** A store in an etcd cluster. */
export interface EtcdStore extends Store {
  /** Values that the servers of the store share. */
  readonly shared: SharedValues;
}

const defaultRecentEventsBytes = 16 * 1024 * 1024;
const pageKeys = 1000;
const pageKeysWithByteLimit = 100;

/**
 * Connects to a store in an etcd cluster (v3 API, 3.4 or later), which any number of servers can share.
 *
 * @throws {StoreUnavailableError} if no member answered in time.
 * @throws {StoreFullError} if the cluster has no space, and is compacted beyond the store's last write.
 * @throws {StoreStampError} if the store has another stamp.
 */
export async function connectEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const connection = new Connection(options);
  const keyspace = new Keyspace(options.prefix);
  try {
    const start = await claimKeyspace(connection, keyspace, options.stamp);
    const store = new ClusterStore(options, connection, keyspace, start);
    const { floor, revision } = await store.learnFloor();
    // Nothing can be read at the store's revision, and it can't be moved.
    if (revision < floor) throw connection.fullError();
    return store;
  } catch (error) {
    connection.close();
    throw error;
  }
}

class ClusterStore implements EtcdStore {
  readonly transactionLimits = etcdTransactionLimits;
  readonly shared: SharedValues;
  private readonly latest: SharedRead<Revision>;
  private readonly feed: Feed;
  private readonly foreign: ForeignValues;
  private readonly live: LiveFeed;
  private readonly compaction: Periodic;
  private readonly writer: Writer;
  private readonly pending = new PendingOperations();
  private closing: Promise<void> | undefined;

  constructor(
    options: EtcdStoreOptions,
    private readonly connection: Connection,
    private readonly keyspace: Keyspace,
    start: Revision,
  ) {
    this.shared = new EtcdSharedValues(connection, keyspace);
    this.writer = new Writer(connection, keyspace);
    this.foreign = new ForeignValues(options.warn);
    this.latest = new SharedRead(async () => {
      const { kvs } = await connection.range({ key: keyspace.marker });
      return revisionOf(kvs[0]?.modRevision ?? 1);
    });
    this.feed = new Feed(
      {
        knownFloor: () => this.live.floor,
        readPast: (prefix, after, upTo) => readPast(connection, keyspace, { prefix, after, upTo }),
        refresh: async () => this.live.reached(await this.latestRevision()),
      },
      start,
      options.recentEventsBytes ?? defaultRecentEventsBytes,
    );
    const { clock, retentionMs = defaultRetentionMs, timeoutMs } = options;
    const now = steadyTime(clock);
    this.live = new LiveFeed({
      connection,
      keyspace,
      feed: this.feed,
      foreign: this.foreign,
      latest: this.latest,
      clock,
      now,
      timeoutMs,
    });
    const compactByAge = async () => void (await this.compact(now() - retentionMs));
    this.compaction = new Periodic(clock, compactionIntervalMs(retentionMs), compactByAge, options.failed);
  }

  async latestRevision(): Promise<Revision> {
    this.assertOpen();
    return this.latest.get();
  }

  async floor(): Promise<Revision> {
    this.assertOpen();
    const { kvs } = await this.connection.range({ key: this.keyspace.floor });
    this.live.learnFloor(floorOf(kvs[0]?.value));
    return this.live.floor;
  }

  /**
   * Reads the compaction revision of the cluster, which others may have compacted too.
   *
   * @returns the floor and the revision of the store, which is below the floor only if the cluster has no space.
   */
  async learnFloor(): Promise<{ readonly floor: Revision; readonly revision: Revision }> {
    const compacted = await readCompactRevision(this.connection, this.keyspace);
    this.live.learnFloor(compacted);
    const revision = await passCompaction(this.connection, this.keyspace, compacted);
    return { floor: await this.floor(), revision };
  }

  async get(key: string, at?: Revision): Promise<Entry | undefined> {
    this.assertOpen();
    await this.assertReadable(at);
    const { kvs } = await this.orCompacted(at, () =>
      this.connection.range({ key: this.keyspace.outer(key), revision: at }),
    );
    return kvs[0] === undefined ? undefined : decodeEntry(key, kvs[0]);
  }

  async range(options: RangeOptions): Promise<RangePage> {
    const { prefix, limit = Infinity, maxBytes } = options;
    this.assertOpen();
    assertPrefix(prefix);
    await this.assertReadable(options.at);
    const maxKeys = maxBytes === undefined ? pageKeys : pageKeysWithByteLimit;
    let { at, after } = options;
    const entries: Entry[] = [];
    for (let bytes = 0; ;) {
      const part = await this.rangePart(prefix, after, at, Math.min(maxKeys, limit - entries.length));
      at = part.revision;
      for (const [i, kv] of part.kvs.entries()) {
        const key = this.keyspace.inner(kv.key)!;
        after = key;
        const entry = unlessForeign(
          () => decodeEntry(key, kv),
          (error) => this.foreign.report(key, error),
        );
        if (entry === undefined) continue;
        entries.push(entry);
        bytes += entry.body.length;
        if (bytes >= (maxBytes ?? Infinity)) {
          return { revision: at, entries, more: part.more || i < part.kvs.length - 1 };
        }
      }
      if (!part.more || entries.length >= limit) return { revision: at, entries, more: part.more };
    }
  }

  async count(prefix: string, at?: Revision): Promise<number> {
    this.assertOpen();
    assertPrefix(prefix);
    await this.assertReadable(at);
    const key = this.keyspace.outer(prefix);
    const rangeEnd = this.keyspace.outerEnd(prefix);
    const request = { key, rangeEnd, countOnly: true, revision: at };
    return (await this.orCompacted(at, () => this.connection.range(request))).count;
  }

  async commit(write: Write): Promise<CommitResult> {
    this.assertOpen();
    assertKey(write.key);
    return this.pending.add(this.published(this.writer.write(write)));
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    this.assertOpen();
    assertTransaction(writes, limitsFor(writes));
    return this.pending.add(this.published(this.writer.transact(writes)));
  }

  async discard(key: string, dryRun: boolean): Promise<DiscardResult> {
    this.assertOpen();
    return this.pending.add(this.discardValue(key, dryRun));
  }

  subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    return this.feed.subscribe(options, listener);
  }

  together(work: () => void): void {
    work();
  }

  async compact(before: number): Promise<Revision> {
    this.assertOpen();
    const target = this.live.newestBefore(before);
    const { kvs } = await this.connection.range({ key: this.keyspace.floor });
    const stored = floorOf(kvs[0]?.value);
    if (target > Math.max(stored, this.live.floor)) {
      // The floor is written before the compaction, so that other servers don't read revisions that are about to disappear.
      const { succeeded } = await this.connection.write(
        {
          expect: { key: this.keyspace.floor, modRevision: kvs[0]?.modRevision ?? 0 },
          success: [{ put: { key: this.keyspace.floor, value: Buffer.from(String(target)) } }],
        },
        false,
      );
      if (succeeded) await this.dropBefore(target);
    }
    return this.floor();
  }

  async check(): Promise<readonly string[]> {
    this.assertOpen();
    return this.pending.add(this.checkAll());
  }

  private async checkAll(): Promise<string[]> {
    const problems: string[] = [];
    let at: Revision | undefined;
    let after: string | undefined;
    for (;;) {
      const part: RangePart = await this.rangePart("/", after, at, pageKeys);
      at = part.revision;
      for (const kv of part.kvs) problems.push(...this.checkValue(kv, part.revision));
      if (!part.more) return problems;
      after = this.keyspace.inner(part.kvs.at(-1)!.key);
    }
  }

  async writeObstacle(): Promise<StoreError | undefined> {
    this.assertOpen();
    return (await this.connection.outOfSpace()) ? this.connection.fullError() : undefined;
  }

  close(): Promise<void> {
    return (this.closing ??= this.release());
  }

  private async release(): Promise<void> {
    await this.pending.settled();
    await this.live.close();
    this.feed.end(closedError());
    await this.compaction.stop();
    this.connection.close();
  }

  /** Returns the result of writes when the subscriptions have their events. */
  private async published<T extends CommitResult | TransactionResult>(writing: Promise<T>): Promise<T> {
    const result = await writing;
    if (result.ok) await this.live.delivered(result.revision);
    return result;
  }

  private async discardValue(key: string, dryRun: boolean): Promise<DiscardResult> {
    for (;;) {
      const { kvs } = await this.connection.range({ key: this.keyspace.outer(key) });
      const [stored] = kvs;
      if (stored === undefined) return "absent";
      let damaged = false;
      unlessForeign(
        () => decodeEntry(key, stored),
        () => (damaged = true),
      );
      if (!damaged) return "readable";
      if (dryRun) return "discarded";
      const revision = await this.writer.remove(key, stored.modRevision);
      if (revision === undefined) continue;
      await this.live.delivered(revision);
      return "discarded";
    }
  }

  private async rangePart(
    prefix: string,
    after: string | undefined,
    at: Revision | undefined,
    limit: number,
  ): Promise<RangePart> {
    const first = after === undefined || compareKeys(after, prefix) < 0 ? prefix : `${after}\0`;
    const request = {
      key: this.keyspace.outer(first),
      rangeEnd: this.keyspace.outerEnd(prefix),
      limit: Math.max(limit, 1),
    };
    if (at !== undefined) {
      const page = await this.orCompacted(at, () => this.connection.range({ ...request, revision: at }));
      return { revision: at, kvs: page.kvs, more: page.more };
    }
    const together = [{ range: request }, { range: { key: this.keyspace.marker } }];
    const { results } = await this.connection.readTogether({ success: together });
    const [page, marker] = results;
    return { revision: revisionOf(marker!.kvs[0]!.modRevision), kvs: page!.kvs, more: page!.more };
  }

  private async dropBefore(target: Revision): Promise<void> {
    try {
      await this.connection.compact(target);
    } catch (error) {
      if (!(error instanceof CompactedSignal)) throw error;
    }
    this.live.learnFloor(target);
  }

  private checkValue(kv: KeyValue, latest: Revision): string[] {
    try {
      const key = this.keyspace.inner(kv.key)!;
      assertKey(key);
      decodeEntry(key, kv);
      return kv.modRevision > latest ? [`${key} is newer than the store's revision`] : [];
    } catch (error) {
      return [(error as Error).message];
    }
  }

  private async assertReadable(at: Revision | undefined): Promise<void> {
    if (at === undefined) return;
    if (at < this.live.floor) throw new RevisionCompactedError(at, this.live.floor);
    if (at <= this.feed.position) return;
    const latest = await this.latestRevision();
    if (at > latest) throw new RevisionTooNewError(at, latest);
  }

  private async orCompacted<T>(at: Revision | undefined, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof CompactedSignal) || at === undefined) throw error;
      const { floor, revision } = await this.learnFloor();
      if (revision < floor && at >= revision) throw this.connection.fullError(error);
      throw new RevisionCompactedError(at, floor);
    }
  }

  private assertOpen(): void {
    if (this.closing !== undefined) throw closedError();
  }
}

interface RangePart {
  readonly revision: Revision;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
}
