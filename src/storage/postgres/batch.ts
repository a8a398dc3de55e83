import { entryFromDraft, revisionOf } from "../entry.ts";
import {
  type CommitResult,
  type Draft,
  type Entry,
  type Revision,
  type StoreError,
  type StoreEvent,
  StoreDamagedError,
  type Write,
} from "../store.ts";
import { bigintArray, booleanArray, bytesArray, integerArray } from "./arrays.ts";
import { entryFrom } from "./rows.ts";
import type { Row } from "./session.ts";

/** A write that waits for its commit. */
export interface WaitingWrite {
  readonly write: Write;
  /** Time at which it is rejected if its commit hasn't begun, by the monotonic clock. */
  readonly deadlineMs: number;
  resolve(result: CommitResult): void;
  reject(error: StoreError): void;
}

const maxBatchWrites = 1000;
const maxBatchBytes = 8 * 1024 * 1024;

/**
 * Removes the writes of the next batch from a queue: their order doesn't matter, except that a write comes after those of the batch whose
 * key it writes or has as a condition. Such a write, and those that depend on it, wait for the next batch.
 */
export function takeBatch(queue: WaitingWrite[]): WaitingWrite[] {
  const batch: WaitingWrite[] = [];
  const written = new Set<string>();
  let bytes = 0;
  // Without a limit of concurrent requests, the queue may be too long for the arguments of a call.
  for (const waiting of queue.splice(0)) {
    const { write } = waiting;
    if (batch.length === maxBatchWrites || (bytes >= maxBatchBytes && batch.length > 0)) {
      queue.push(waiting);
      continue;
    }
    const depends =
      written.has(write.key) || (write.conditions ?? []).some((condition) => written.has(condition.key));
    written.add(write.key);
    if (depends) {
      queue.push(waiting);
      continue;
    }
    batch.push(waiting);
    bytes += write.kind === "delete" ? 0 : write.draft.header.length + write.draft.body.length;
  }
  return batch;
}

const noBytes = Buffer.alloc(0);

/**
 * Returns the parameters of the statement `commit`.
 *
 * @param cachedPrevious returns the value that a write replaces, if it needn't be sent.
 */
export function commitValues(
  id: string,
  lockMs: number,
  batch: readonly WaitingWrite[],
  cachedPrevious: (write: Write) => Entry | undefined,
): unknown[] {
  const writes = batch.map(({ write }) => write);
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
  readonly results: readonly { readonly to: WaitingWrite; readonly result: CommitResult }[];
}

/**
 * Decodes the rows of the statement `commit`.
 *
 * @throws {StoreDamagedError} if they don't belong to the batch.
 */
export function outcomeOf(
  rows: readonly Row[],
  batch: readonly WaitingWrite[],
  cachedPrevious: (write: Write) => Entry | undefined,
): BatchOutcome {
  if (rows.length !== batch.length + 1)
    throw new StoreDamagedError(`the database answered ${batch.length} writes with ${rows.length} rows`);
  const base = revisionOf(rows[0]![1] as number);
  const events: StoreEvent[] = [];
  let conditionsBefore = 0;
  const results = batch.map((to, index) => {
    const { write } = to;
    const [, at, failed, revision, revisionAt, header, body] = rows[index + 1]! as unknown as [
      number,
      number,
      number | null,
      number | null,
      number,
      Buffer,
      Buffer,
    ];
    const stored =
      revision === null ? undefined : entryFrom(write.key, revision, { revisionAt, header, body });
    const firstCondition = conditionsBefore + 1;
    conditionsBefore += write.conditions?.length ?? 0;
    if (at > 0) {
      const event = eventOf(write, revisionOf(at), stored ?? cachedPrevious(write));
      events.push(event);
      return { to, result: resultOf(event) };
    }
    const isExpected = (stored?.revision ?? 0) === expectedOf(write);
    const result: CommitResult =
      isExpected && failed !== null
        ? { ok: false, current: stored, failedCondition: failed - firstCondition }
        : { ok: false, current: stored };
    return { to, result };
  });
  return { base, last: events.at(-1)?.revision ?? base, events, results };
}

/** Returns the event of a write committed at a revision. */
export function eventOf(write: Write, revision: Revision, previous: Entry | undefined): StoreEvent {
  if (write.kind !== "create" && previous === undefined)
    throw new StoreDamagedError(`the value that revision ${revision} replaced is missing: ${write.key}`);
  const entry = write.kind === "delete" ? undefined : entryFromDraft(write.key, revision, write.draft);
  return { key: write.key, revision, entry, previous };
}

/** Returns the result of a successful write. */
export function resultOf({ revision, entry, previous }: StoreEvent): CommitResult {
  return { ok: true, revision, entry: (entry ?? previous)! };
}
