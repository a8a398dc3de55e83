import { entryFromDraft, revisionOf } from "../entry.ts";
import {
  type Draft,
  type Entry,
  type Revision,
  type StoreError,
  type StoreEvent,
  StoreDamagedError,
  type TransactionResult,
  type Write,
} from "../store.ts";
import { draftBytes } from "../transaction.ts";
import { bigintArray, booleanArray, bytesArray, integerArray } from "./arrays.ts";
import { entryFrom } from "./rows.ts";
import type { Row } from "./session.ts";

/** Writes that wait for their commit: those of a transaction, or a single one. */
export interface WaitingWrites {
  readonly writes: readonly Write[];
  /** Time at which they are rejected if their commit hasn't begun, by the monotonic clock. */
  readonly deadlineMs: number;
  resolve(result: TransactionResult): void;
  reject(error: StoreError): void;
}

/** Number of writes and bytes with which a batch ends. */
const maxBatchWrites = 1000;
const maxBatchBytes = 8 * 1024 * 1024;

/**
 * Removes the transactions of the next batch from a queue: their order doesn't matter, except that a write comes after those of the other
 * transactions of the batch whose key it writes or has as a condition. A transaction with such a write, and those that depend on it, wait
 * for the next batch.
 */
export function takeBatch(queue: WaitingWrites[]): WaitingWrites[] {
  const batch: WaitingWrites[] = [];
  const written = new Set<string>();
  let [count, bytes] = [0, 0];
  // Without a limit of concurrent requests, the queue may be too long for the arguments of a call.
  for (const waiting of queue.splice(0)) {
    const { writes } = waiting;
    if (count >= maxBatchWrites || bytes >= maxBatchBytes) {
      queue.push(waiting);
      continue;
    }
    const depends = writes.some(
      ({ key, conditions = [] }) =>
        written.has(key) || conditions.some((condition) => written.has(condition.key)),
    );
    for (const { key } of writes) written.add(key);
    if (depends) {
      queue.push(waiting);
      continue;
    }
    batch.push(waiting);
    count += writes.length;
    bytes += draftBytes(writes);
  }
  return batch;
}

/** Whether a batch has transactions of several writes. */
export function isGrouped(batch: readonly WaitingWrites[]): boolean {
  return batch.some(({ writes }) => writes.length > 1);
}

const noBytes = Buffer.alloc(0);

/**
 * Returns the parameters of the statement `commit`, or `commitGroups` for a batch with transactions of several writes.
 *
 * @param cachedPrevious returns the value that a write replaces, if it needn't be sent.
 */
export function commitValues(
  id: string,
  lockMs: number,
  batch: readonly WaitingWrites[],
  cachedPrevious: (write: Write) => Entry | undefined,
): unknown[] {
  const writes = batch.flatMap((waiting) => waiting.writes);
  const drafts = writes.map((write): Draft | undefined =>
    write.kind === "delete" ? undefined : write.draft,
  );
  const conditions = writes.flatMap((write, index) =>
    (write.conditions ?? []).map(({ key, revision }) => ({ write: index + 1, key, revision })),
  );
  return [
    id,
    lockMs,
    bytesArray(writes.map(({ key }) => Buffer.from(key))),
    bigintArray(writes.map(expectedOf)),
    integerArray(drafts.map((draft) => draft?.revisionAt ?? 0)),
    bytesArray(drafts.map((draft) => draft?.header ?? noBytes)),
    bytesArray(drafts.map((draft) => draft?.body)),
    booleanArray(writes.map((write) => expectedOf(write) > 0 && cachedPrevious(write) === undefined)),
    integerArray(conditions.map(({ write }) => write)),
    bytesArray(conditions.map(({ key }) => Buffer.from(key))),
    bigintArray(conditions.map(({ revision }) => revision)),
    ...(isGrouped(batch)
      ? [integerArray(batch.flatMap((waiting, index) => waiting.writes.map(() => index)))]
      : []),
  ];
}

export function expectedOf(write: Write): Revision | 0 {
  return write.kind === "create" ? 0 : write.expected;
}

/** The outcome of a committed batch. */
export interface BatchOutcome {
  readonly base: Revision;
  readonly last: Revision;
  readonly events: readonly StoreEvent[];
  readonly results: readonly { readonly to: WaitingWrites; readonly result: TransactionResult }[];
}

/** The outcome of a write, as the database returns it. */
interface WriteOutcome {
  readonly write: Write;
  /** 0 if its transaction failed. */
  readonly at: number;
  /** Index of its first failed condition; undefined if there is none. */
  readonly failedCondition: number | undefined;
  /** The current value of its key if its transaction failed; else the previous one, if it was requested. */
  readonly stored: Entry | undefined;
}

/**
 * Decodes the rows of the statements `commit` and `commitGroups`.
 *
 * @throws {StoreDamagedError} if they don't belong to the batch.
 */
export function outcomeOf(
  rows: readonly Row[],
  batch: readonly WaitingWrites[],
  cachedPrevious: (write: Write) => Entry | undefined,
): BatchOutcome {
  const writes = batch.reduce((count, waiting) => count + waiting.writes.length, 0);
  if (rows.length !== writes + 1)
    throw new StoreDamagedError(`the database answered ${writes} writes with ${rows.length} rows`);
  const base = revisionOf(rows[0]![1] as number);
  const events: StoreEvent[] = [];
  let rowsBefore = 1;
  let conditionsBefore = 0;
  const results = batch.map((to) => {
    const outcomes = to.writes.map((write) => {
      const outcome = writeOutcome(write, rows[rowsBefore++]!, conditionsBefore);
      conditionsBefore += write.conditions?.length ?? 0;
      return outcome;
    });
    if (outcomes[0]!.at === 0) return { to, result: refusalOf(outcomes) };
    const own = outcomes.map(({ write, at, stored }) =>
      eventOf(write, revisionOf(at), stored ?? cachedPrevious(write)),
    );
    events.push(...own);
    return { to, result: resultOf(own) };
  });
  return { base, last: events.at(-1)?.revision ?? base, events, results };
}

function writeOutcome(write: Write, row: Row, conditionsBefore: number): WriteOutcome {
  const [, at, failed, revision, revisionAt, header, body] = row as unknown as [
    number,
    number,
    number | null,
    number | null,
    number,
    Buffer,
    Buffer,
  ];
  return {
    write,
    at,
    failedCondition: failed === null ? undefined : failed - conditionsBefore - 1,
    stored: revision === null ? undefined : entryFrom(write.key, revision, { revisionAt, header, body }),
  };
}

/** Returns the first write that failed. */
function refusalOf(outcomes: readonly WriteOutcome[]): TransactionResult {
  for (const [failedWrite, { write, stored: current, failedCondition }] of outcomes.entries()) {
    if ((current?.revision ?? 0) !== expectedOf(write)) return { ok: false, failedWrite, current };
    if (failedCondition !== undefined) return { ok: false, failedWrite, current, failedCondition };
  }
  throw new StoreDamagedError("the database refused writes whose expectations are all met");
}

/** Returns the event of a write committed at a revision. */
export function eventOf(write: Write, revision: Revision, previous: Entry | undefined): StoreEvent {
  if (write.kind !== "create" && previous === undefined)
    throw new StoreDamagedError(`the value that revision ${revision} replaced is missing: ${write.key}`);
  const entry = write.kind === "delete" ? undefined : entryFromDraft(write.key, revision, write.draft);
  return { key: write.key, revision, entry, previous };
}

/** Returns the result of a transaction with the events of its writes. */
export function resultOf(events: readonly StoreEvent[]): TransactionResult {
  const entries = events.map(({ entry, previous }) => (entry ?? previous)!);
  return { ok: true, revision: events[0]!.revision, entries };
}
