import { firstRevision, revisionOf } from "../entry.ts";
import { closedError, Feed } from "../feed.ts";
import { assertKey, assertPrefix, isTooLong, prefixEnd } from "../keys.ts";
import { compactionIntervalMs, defaultRetentionMs, type StoreOptions } from "../options.ts";
import { PendingOperations } from "../pending-operations.ts";
import { Periodic } from "../periodic.ts";
import type { SharedValues } from "../shared-values.ts";
import { steadyTime } from "../time-marks.ts";
import {
  type CommitResult,
  type Entry,
  type Listener,
  type RangeOptions,
  type RangePage,
  type Revision,
  RevisionCompactedError,
  RevisionTooNewError,
  type Store,
  StoreDamagedError,
  StoreError,
  type StoreUsage,
  type SubscribeOptions,
  type Subscription,
  type TransactionResult,
  type Write,
  StoreUnavailableError,
} from "../store.ts";
import { assertTransaction, defaultTransactionLimits } from "../transaction.ts";
import { type DatabaseAddress, parseAddress } from "./address.ts";
import { checkStore } from "./check.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { EntryCache } from "./entry-cache.ts";
import { LogFollower } from "./log-follower.ts";
import { Notifications } from "./notifications.ts";
import { readPage } from "./pages.ts";
import { PointReads } from "./point-reads.ts";
import { entryOf } from "./rows.ts";
import { latestOf } from "./commit-function.ts";
import { claimStamp, enableTransactions, prepareSchema } from "./schema.ts";
import { isSchemaName } from "./schema-name.ts";
import { type Statements, statementsOf } from "./statements.ts";
import { Writer } from "./writer.ts";

/** Options of a store in a PostgreSQL database. */
export interface PostgresStoreOptions extends StoreOptions, Omit<ConnectionOptions, "address"> {
  /** URL of the database, or its parsed form. */
  readonly url: string | DatabaseAddress;
  /** Schema of the store's tables; servers with the same schema share one store. Default `plinth`. */
  readonly schema?: string | undefined;
  /** Maximum memory for recent events in bytes; default 16 MiB. */
  readonly recentEventsBytes?: number | undefined;
  /** Maximum memory for cached entries in bytes; default 32 MiB. */
  readonly cacheBytes?: number | undefined;
  /** Called with risks of the configuration and losses of the database, for the log. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** A store in a PostgreSQL database. */
export interface PostgresStore extends Store {
  /** Values that the servers of the store share. */
  readonly shared: SharedValues;
}

const defaultSchema = "plinth";
const defaultRecentEventsBytes = 16 * 1024 * 1024;
const defaultCacheBytes = 32 * 1024 * 1024;

/**
 * Connects to a store in a PostgreSQL database (version 12 or later), which any number of servers can share. Creates its schema if it doesn't
 * exist.
 *
 * @throws {AddressError} if the URL isn't valid.
 * @throws {StoreUnavailableError} if no server of the database accepts writes, or the user lacks rights.
 * @throws {StoreStampError} if the store has another stamp.
 */
export async function connectPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { url, schema = defaultSchema, stamp, warn = () => undefined } = options;
  if (!isSchemaName(schema)) throw new TypeError(`not a schema name: ${JSON.stringify(schema)}`);
  const address = typeof url === "string" ? parseAddress(url) : url;
  for (const message of address.warnings) warn(message);
  const connection = new Connection({ ...options, address });
  try {
    const session = await connection.connect();
    const { timeoutMs } = connection;
    await prepareSchema(session, schema, timeoutMs);
    if (stamp !== undefined) await claimStamp(session, schema, stamp, timeoutMs);
    const [settings] = await session.query({ text: "select current_setting('fsync')" }, timeoutMs);
    if (settings?.[0] === "off")
      warn("the database has fsync=off: a crash of its machine can lose or damage all data");
    const newest = `select ${latestOf(schema)}, (select b.id::text from "${schema}".batches b where b.revision = ${latestOf(schema)})`;
    const [row] = await session.query({ text: newest }, timeoutMs);
    await session.close();
    if (typeof row?.[0] !== "number")
      throw new StoreDamagedError("the table batches of the store has no row");
    return new DatabaseStore(options, connection, { revision: revisionOf(row[0]), id: String(row[1]) });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

class DatabaseStore implements PostgresStore {
  readonly transactionLimits = defaultTransactionLimits;
  readonly shared: SharedValues;
  private readonly statements: Statements;
  private readonly cache: EntryCache;
  private readonly feed: Feed;
  private readonly follower: LogFollower;
  private readonly notifications: Notifications;
  private readonly points: PointReads;
  private readonly writer: Writer;
  private readonly compaction: Periodic;
  private readonly pending = new PendingOperations();
  private closing: Promise<void> | undefined;
  /** Resolves when the store can execute transactions of several writes; undefined before the first one. */
  private enabled: Promise<void> | undefined;

  constructor(
    private readonly options: PostgresStoreOptions,
    private readonly connection: Connection,
    start: { readonly revision: Revision; readonly id: string },
  ) {
    const {
      clock,
      schema = defaultSchema,
      retentionMs = defaultRetentionMs,
      warn = () => undefined,
    } = options;
    const { failed = () => undefined } = options;
    const now = steadyTime(clock);
    const statements = statementsOf(schema);
    this.statements = statements;
    this.shared = new PostgresSharedValues(connection, statements);
    const cache = new EntryCache(options.cacheBytes ?? defaultCacheBytes);
    this.cache = cache;
    const feed = new Feed(
      {
        knownFloor: () => this.follower.floor,
        readPast: (prefix, after, upTo) => this.follower.readPast(prefix, after, upTo),
        refresh: () => this.follower.refresh(),
      },
      start.revision,
      options.recentEventsBytes ?? defaultRecentEventsBytes,
    );
    this.feed = feed;
    this.follower = new LogFollower({
      connection,
      statements,
      feed,
      cache,
      clock,
      now,
      newest: start.id,
      warn,
      underWay: (id) => this.writer.underWay(id),
    });
    this.points = new PointReads(connection, statements, cache, () => feed.position);
    this.notifications = new Notifications({
      connection,
      channel: `plinth_${schema}`,
      clock,
      received: (payload) => {
        if (payload !== undefined && Number(payload) <= feed.position) return;
        // If it fails, the next poll reads the log.
        this.follower.notified().catch(failed);
      },
      failed,
    });
    this.writer = new Writer({
      connection,
      statements,
      cache,
      clock,
      getAt: (key, at) => this.getAt(key, at),
      committed: async (batch) => {
        this.notifications.send(String(batch.last));
        await this.follower.publishOwn(batch);
      },
    });
    const compactByAge = async () => void (await this.compact(now() - retentionMs));
    this.compaction = new Periodic(clock, compactionIntervalMs(retentionMs), compactByAge, failed);
  }

  async latestRevision(): Promise<Revision> {
    this.assertOpen();
    return this.follower.latest();
  }

  async floor(): Promise<Revision> {
    this.assertOpen();
    const [row] = await this.connection.read(this.statements.floor);
    this.follower.learnFloor(revisionOf((row?.[0] as number | undefined) ?? firstRevision));
    return this.follower.floor;
  }

  async get(key: string, at?: Revision): Promise<Entry | undefined> {
    this.assertOpen();
    if (key.includes("\0") || isTooLong(key)) return undefined;
    if (at !== undefined) return this.getAt(key, at);
    if (this.cache.get(key) !== undefined) {
      const latest = await this.follower.latest();
      const entry = this.feed.position >= latest ? this.cache.get(key) : undefined;
      if (entry !== undefined) return entry;
    }
    return this.points.get(key);
  }

  async range(options: RangeOptions): Promise<RangePage> {
    this.assertOpen();
    assertPrefix(options.prefix);
    return readPage(this.connection, this.statements, options, (at, latest, floor) =>
      this.assertReadable(at, latest, floor),
    );
  }

  async count(prefix: string, at?: Revision): Promise<number> {
    this.assertOpen();
    assertPrefix(prefix);
    const range = [Buffer.from(prefix), Buffer.from(prefixEnd(prefix))];
    const { count, countAt } = this.statements;
    const [row] = await this.connection.read(
      at === undefined ? { ...count, values: range } : { ...countAt, values: [...range, at] },
    );
    const [latest, floor, number] = row as unknown as [Revision, Revision, number];
    this.assertReadable(at, latest, floor);
    return number;
  }

  async commit(write: Write): Promise<CommitResult> {
    this.assertOpen();
    assertKey(write.key);
    assertDraft(write);
    return this.pending.add(this.writer.commit(write));
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    this.assertOpen();
    assertTransaction(writes, this.transactionLimits);
    for (const write of writes) assertDraft(write);
    return this.pending.add(this.transactWhenEnabled(writes));
  }

  private async transactWhenEnabled(writes: readonly Write[]): Promise<TransactionResult> {
    if (writes.length > 1) await (this.enabled ??= this.enable());
    return this.writer.transact(writes);
  }

  private async enable(): Promise<void> {
    const { connection } = this;
    try {
      const session = await connection.connect();
      try {
        await enableTransactions(session, this.options.schema ?? defaultSchema, connection.timeoutMs);
      } finally {
        await session.close();
      }
    } catch (error) {
      this.enabled = undefined;
      if (!(error instanceof StoreUnavailableError)) throw error;
      throw new StoreUnavailableError(`${error.message}; nothing was written`, { cause: error });
    }
  }

  subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    return this.feed.subscribe(options, listener);
  }

  together(work: () => void): void {
    work();
  }

  async compact(before: number): Promise<Revision> {
    this.assertOpen();
    return this.pending.add(this.compactTo(this.follower.newestBefore(before)));
  }

  private async compactTo(target: Revision): Promise<Revision> {
    const { raiseFloor, dropEntries, dropBatches } = this.statements;
    const floor = await this.floor();
    if (target <= floor) return floor;
    // The floor is raised in a transaction before the deletion, so that no read misses deleted values.
    await this.connection.read({ ...raiseFloor, values: [target] });
    for (;;) {
      const [row] = await this.connection.read({ ...dropEntries, values: [target] });
      if (row?.[0] === 0 || this.closing !== undefined) break;
    }
    await this.connection.read({ ...dropBatches, values: [target] });
    const [row] = await this.connection.read(this.statements.floor);
    this.follower.learnFloor(row![0] as Revision);
    return this.follower.floor;
  }

  async check(): Promise<readonly string[]> {
    this.assertOpen();
    return this.pending.add(checkStore(this.connection, this.statements));
  }

  async writeObstacle(): Promise<StoreError | undefined> {
    this.assertOpen();
    return this.writer.obstacle;
  }

  async usage(): Promise<StoreUsage | undefined> {
    this.assertOpen();
    const [row] = await this.connection.read(this.statements.size);
    const { failedWrites } = this.writer;
    return { totalBytes: Number(row?.[0] ?? 0), freeBytes: 0, failedWrites };
  }

  close(): Promise<void> {
    return (this.closing ??= this.release());
  }

  private async release(): Promise<void> {
    await this.pending.settled();
    this.feed.end(closedError());
    await this.writer.close();
    // Their statements in progress fail, so that a database that doesn't answer delays nothing.
    await Promise.all([
      this.connection.close(),
      this.compaction.stop(),
      this.follower.close(),
      this.notifications.close(),
    ]);
  }

  private async getAt(key: string, at: Revision): Promise<Entry | undefined> {
    const [row] = await this.connection.read({ ...this.statements.getAt, values: [Buffer.from(key), at] });
    const [latest, floor] = row as unknown as [Revision, Revision];
    this.assertReadable(at, latest, floor);
    return row![2] === null ? undefined : entryOf(row!, 2);
  }

  private assertReadable(at: Revision | undefined, latest: Revision, floor: Revision): void {
    this.follower.learnFloor(floor);
    if (at === undefined) return;
    if (at < floor) throw new RevisionCompactedError(at, floor);
    if (at > latest) throw new RevisionTooNewError(at, latest);
  }

  private assertOpen(): void {
    if (this.closing !== undefined) throw closedError();
  }
}

/** @throws {RangeError} (a bug of the caller) if the position of the revision lies outside the body. */
function assertDraft(write: Write): void {
  if (write.kind === "delete") return;
  const { body, revisionAt } = write.draft;
  if (revisionAt < 0 || revisionAt > body.length)
    throw new RangeError(`revisionAt ${revisionAt} lies outside a body of ${body.length} bytes`);
}

/** Values that the servers of one store share. */
class PostgresSharedValues implements SharedValues {
  constructor(
    private readonly connection: Connection,
    private readonly statements: Statements,
  ) {}

  async get(name: string): Promise<Buffer | undefined> {
    const [row] = await this.connection.read({ ...this.statements.sharedValue, values: [name] });
    return row?.[0] as Buffer | undefined;
  }

  async replace(name: string, before: Buffer | undefined, value: Buffer): Promise<Buffer> {
    const { addShared, replaceShared } = this.statements;
    // Both statements may be executed twice: the second time they change nothing.
    await this.connection.read(
      before === undefined
        ? { ...addShared, values: [name, value] }
        : { ...replaceShared, values: [name, value, before] },
    );
    const stored = await this.get(name);
    if (stored === undefined)
      throw new StoreUnavailableError(`the shared value ${name} was removed meanwhile`);
    return stored;
  }
}
