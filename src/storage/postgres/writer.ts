import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../base/time/clock.ts";
import { revisionOf } from "../entry.ts";
import {
  type CommitResult,
  type Entry,
  type Revision,
  StoreError,
  type StoreEvent,
  StoreFullError,
  StoreTimeoutError,
  StoreUnavailableError,
  type TransactionResult,
  type Write,
} from "../store.ts";
import { singleResult } from "../transaction.ts";
import {
  type BatchOutcome,
  commitValues,
  eventOf,
  expectedOf,
  isGrouped,
  outcomeOf,
  resultOf,
  takeBatch,
  type WaitingWrites,
} from "./batch.ts";
import type { Connection } from "./connection.ts";
import type { EntryCache } from "./entry-cache.ts";
import type { OwnBatch } from "./log-follower.ts";
import { type Session, SessionLostError } from "./session.ts";
import type { Statements } from "./statements.ts";

const retryFirstMs = 20;
const retryMostMs = 500;
/** Part of the timeout for which a batch waits for the lock of the store, which other servers hold for one batch each. */
const lockShare = 0.8;

interface Parts {
  readonly connection: Connection;
  readonly statements: Statements;
  readonly cache: EntryCache;
  readonly clock: Clock;
  /** Reads an entry at a revision. */
  readonly getAt: (key: string, at: Revision) => Promise<Entry | undefined>;
  /** Publishes a committed batch; its writes are acknowledged when the promise resolves. */
  readonly committed: (batch: OwnBatch) => Promise<void>;
}

/**
 * Commits writes in batches, one after the other: those that arrive while a batch is committed form the next one. A batch is one statement
 * with one sync of the database's log.
 *
 * If the connection is lost before the answer, the batch is looked up by its id. The lookup inserts the id, so that a transaction that is
 * still to come fails: then the batch is either committed, with known revisions, or never will be.
 */
export class Writer {
  private readonly queue: WaitingWrites[] = [];
  private running: Promise<void> | undefined;
  private session: Session | undefined;
  private failure: StoreError | undefined;
  private current: { readonly id: string; readonly published: Promise<void> } | undefined;
  /** Number of writes that failed for lack of space or because of a failed commit. */
  failedWrites = 0;

  constructor(private readonly parts: Parts) {}

  /** Why the last batch failed for lack of space; undefined if it didn't. */
  get obstacle(): StoreError | undefined {
    return this.failure instanceof StoreFullError ? this.failure : undefined;
  }

  /** Commits a write with the next batch. */
  async commit(write: Write): Promise<CommitResult> {
    return singleResult(await this.transact([write]));
  }

  /** Commits writes as one transaction with the next batch. If they are several, the store has version 2. */
  transact(writes: readonly Write[]): Promise<TransactionResult> {
    const { connection, clock } = this.parts;
    return new Promise((resolve, reject) => {
      this.queue.push({ writes, deadlineMs: clock.monotonicNow() + connection.timeoutMs, resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Resolves when the batch with an id is published or has failed; undefined if this store isn't committing it. */
  underWay(id: string): Promise<void> | undefined {
    return this.current?.id === id ? this.current.published : undefined;
  }

  async close(): Promise<void> {
    while (this.running !== undefined) await this.running;
    await this.session?.close();
  }

  private async run(): Promise<void> {
    // The writes of one turn of the event loop form a batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.queue.length > 0) {
      this.rejectLate();
      const batch = takeBatch(this.queue);
      if (batch.length === 0) continue;
      try {
        const id = randomUUID();
        const committed = this.commitBatch(id, batch);
        this.current = { id, published: committed.then(nothing, nothing) };
        await committed;
        this.failure = undefined;
      } catch (error) {
        this.failure = asStoreError(error);
        this.failedWrites += batch.length;
        for (const { reject } of batch) reject(this.failure);
      }
    }
    // Before anything else runs: a write that arrives from now on starts the next run.
    this.running = undefined;
  }

  private rejectLate(): void {
    const { clock, connection } = this.parts;
    const nowMs = clock.monotonicNow();
    while (this.queue.length > 0 && this.queue[0]!.deadlineMs <= nowMs) {
      this.failedWrites++;
      this.queue
        .shift()!
        .reject(
          new StoreTimeoutError(
            `the write waited ${connection.timeoutMs} ms for those before it; nothing was written`,
          ),
        );
    }
  }

  private async commitBatch(id: string, batch: readonly WaitingWrites[]): Promise<void> {
    const { connection, statements } = this.parts;
    const previous = this.previousOf(batch);
    const cached = (write: Write) => previous.get(write);
    const lockMs = Math.ceil(connection.timeoutMs * lockShare);
    const session = await this.writeSession();
    try {
      const values = commitValues(id, lockMs, batch, cached);
      const commit = isGrouped(batch) ? statements.commitGroups : statements.commit;
      const rows = await connection.execute(session, { ...commit, values });
      await this.finish(id, outcomeOf(rows, batch, cached));
    } catch (error) {
      if (!(error instanceof SessionLostError)) throw error;
      await this.resolveUnanswered(id, batch, previous, error);
    }
  }

  /** Returns the values that the writes of a batch replace, as far as they are cached. */
  private previousOf(batch: readonly WaitingWrites[]): Map<Write, Entry> {
    const previous = new Map<Write, Entry>();
    for (const write of batch.flatMap(({ writes }) => writes)) {
      const entry = this.parts.cache.get(write.key);
      if (entry !== undefined && entry.revision === expectedOf(write)) previous.set(write, entry);
    }
    return previous;
  }

  private async finish(id: string, { base, last, events, results }: BatchOutcome): Promise<void> {
    if (events.length > 0) await this.parts.committed({ id, base, last, events });
    for (const { to, result } of results) to.resolve(result);
  }

  private async writeSession(): Promise<Session> {
    if (this.session?.isOpen !== true) this.session = await this.parts.connection.connect();
    return this.session;
  }

  /**
   * Finds out whether a batch without an answer was committed. Its writes that weren't are committed again, with the next batch.
   *
   * @throws {StoreUnavailableError} if the database can't be reached in time; then the outcome isn't known.
   */
  private async resolveUnanswered(
    id: string,
    batch: readonly WaitingWrites[],
    previous: ReadonlyMap<Write, Entry>,
    lost: SessionLostError,
  ): Promise<void> {
    const revisions = await this.outcome(id, lost);
    let writesBefore = 0;
    const written: { to: WaitingWrites; revision: Revision }[] = [];
    const unwritten: WaitingWrites[] = [];
    for (const to of batch) {
      // The writes of a transaction have the same revision.
      const revision = revisions?.[writesBefore] ?? 0;
      if (revision > 0) written.push({ to, revision: revisionOf(revision) });
      else unwritten.push(to);
      writesBefore += to.writes.length;
    }
    if (written.length > 0) await this.publishWritten(id, written, previous);
    // Only now: if the above fails, the whole batch is rejected, and none of its writes may take effect later.
    this.queue.unshift(...unwritten);
  }

  /** Publishes and acknowledges the transactions of a batch whose answer was lost. */
  private async publishWritten(
    id: string,
    written: readonly { readonly to: WaitingWrites; readonly revision: Revision }[],
    previous: ReadonlyMap<Write, Entry>,
  ): Promise<void> {
    const events: StoreEvent[][] = [];
    for (const { to, revision } of written) {
      const own: StoreEvent[] = [];
      for (const write of to.writes)
        own.push(eventOf(write, revision, await this.replacedBy(write, revision, previous)));
      events.push(own);
    }
    const [first, last] = [written[0]!, written.at(-1)!];
    // A transaction takes as many revisions as it has writes.
    const base = revisionOf(first.revision - first.to.writes.length);
    await this.parts.committed({ id, base, last: last.revision, events: events.flat() });
    for (const [index, { to }] of written.entries()) to.resolve(resultOf(events[index]!));
  }

  private async replacedBy(
    write: Write,
    revision: Revision,
    previous: ReadonlyMap<Write, Entry>,
  ): Promise<Entry | undefined> {
    if (write.kind === "create") return undefined;
    try {
      return previous.get(write) ?? (await this.parts.getAt(write.key, revisionOf(revision - 1)));
    } catch (error) {
      throw new StoreUnavailableError(
        `${(error as Error).message}; whether the write took effect isn't known`,
        { cause: error },
      );
    }
  }

  /** Returns the revisions of the writes of a batch, 0 for those that failed; undefined if it isn't and never will be committed. */
  private async outcome(id: string, lost: SessionLostError): Promise<readonly number[] | undefined> {
    const { connection, statements, clock } = this.parts;
    const endMs = clock.monotonicNow() + connection.timeoutMs;
    for (let delayMs = retryFirstMs; ; delayMs = Math.min(delayMs * 2, retryMostMs)) {
      try {
        const session = await this.writeSession();
        await connection.execute(session, { ...statements.abandon, values: [id] });
        const [row] = await connection.execute(session, { ...statements.outcome, values: [id] });
        if (row?.[0] === null) return undefined;
        if (row !== undefined) return String(row[1]).slice(1, -1).split(",").map(Number);
        // Another server removed the mark as outdated, after the batch had waited for very long.
      } catch (error) {
        if (!(error instanceof StoreUnavailableError) && !(error instanceof StoreTimeoutError)) throw error;
      }
      if (clock.monotonicNow() >= endMs)
        throw new StoreUnavailableError(`${lost.message}; whether the write took effect isn't known`, {
          cause: lost,
        });
      await delay(delayMs);
    }
  }
}

function nothing(): void {}

function asStoreError(error: unknown): StoreError {
  return error instanceof StoreError
    ? error
    : new StoreError(`the commit failed: ${String(error)}`, { cause: error });
}
