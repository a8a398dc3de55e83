/** The outcomes of writes in a batch, computed without side effects. */
import { firstFailed } from "../conditions.ts";
import { countersOf, isIn } from "../keys.ts";
import {
  type CommitResult,
  type Entry,
  type Revision,
  type StoreEvent,
  StoreValueError,
  type TransactionResult,
  type Write,
} from "../store.ts";
import { encodeRecord, recordOf } from "./layout.ts";

/** Maximum size of a write besides its value and the superseded one: keys, index entries, partial pages. */
const writeOverheadBytes = 4096;

/** Returns the maximum size of a write in bytes; the superseded value stays in the log. */
export function maxBytesOf(record: Buffer, superseded: Entry | undefined): number {
  return record.length + writeOverheadBytes + (superseded === undefined ? 0 : recordOf(superseded).length);
}

/** Removes a value that can't be read, with the history; see `Store.discard`. */
export interface Discard {
  readonly kind: "discard";
  readonly key: string;
}

/** Several writes at one revision; see `Store.transact`. */
export interface Transaction {
  readonly kind: "transaction";
  readonly writes: readonly Write[];
}

/** A successful change of one key. */
export interface Step {
  readonly write: Write | Discard;
  /** Undefined for a discarded value. */
  readonly event: StoreEvent | undefined;
  /** Undefined for a delete. */
  readonly record: Buffer | undefined;
}

interface Prepared {
  readonly error?: undefined;
  readonly result: CommitResult | TransactionResult;
  /** The changes at the revision; none for a conflict. */
  readonly steps: readonly Step[];
}

/** The current state of keys, including earlier writes of the batch. */
export interface PresentState {
  entry(key: string): Entry | undefined;
  /** Revision of {@link entry}; cheaper for keys that many writes of a batch depend on. */
  revision(key: string): Revision | undefined;
}

/** Returns the outcome of a write or a transaction in a state, without side effects. */
export function prepare(
  write: Write | Discard | Transaction,
  present: PresentState,
  revision: Revision,
): Prepared {
  if (write.kind === "transaction") return prepareTransaction(write.writes, present, revision);
  return write.kind === "discard"
    ? prepareDiscard(write, present, revision)
    : prepareOne(write, present, revision);
}

/** All outcomes are those in the state before the transaction, because each write is of another key. */
function prepareTransaction(writes: readonly Write[], present: PresentState, revision: Revision): Prepared {
  const steps: Step[] = [];
  const entries: Entry[] = [];
  for (const [failedWrite, write] of writes.entries()) {
    const one = prepareOne(write, present, revision);
    if (!one.result.ok) return { result: { ...one.result, failedWrite }, steps: [] };
    entries.push(one.result.entry);
    steps.push(...one.steps);
  }
  return { result: { ok: true, revision, entries }, steps };
}

function prepareOne(
  write: Write,
  present: PresentState,
  revision: Revision,
): Prepared & { readonly result: CommitResult } {
  const { key } = write;
  const previous = present.entry(key);
  const expected = write.kind === "create" ? undefined : write.expected;
  if (previous?.revision !== expected) return { result: { ok: false, current: previous }, steps: [] };
  const failedCondition = firstFailed(write.conditions, (other) => present.revision(other));
  if (failedCondition !== undefined)
    return { result: { ok: false, current: previous, failedCondition }, steps: [] };
  const encoded = write.kind === "delete" ? undefined : encodeRecord(key, revision, write.draft, previous);
  const event = { key, revision, entry: encoded?.entry, previous };
  return {
    result: { ok: true, revision, entry: (encoded?.entry ?? previous)! },
    steps: [{ write, event, record: encoded?.record }],
  };
}

/** A value that can be read is a conflict. */
function prepareDiscard(write: Discard, present: PresentState, revision: Revision): Prepared {
  const { key } = write;
  try {
    return { result: { ok: false, current: present.entry(key) }, steps: [] };
  } catch (error) {
    if (!(error instanceof StoreValueError)) throw error;
    const entry = { key, revision, header: noBytes, body: noBytes, revisionAt: 0 };
    return { result: { ok: true, revision, entry }, steps: [{ write, event: undefined, record: undefined }] };
  }
}

const noBytes = new Uint8Array(0);

interface Refused {
  readonly error: unknown;
  readonly result?: undefined;
}

export function attempt(make: () => Prepared): Prepared | Refused {
  try {
    return make();
  } catch (error) {
    return { error };
  }
}

/**
 * Change of the number of keys in each collection and partition.
 *
 * @param discarded keys whose values are removed without an event.
 */
export function growthOf(
  events: readonly StoreEvent[],
  discarded: readonly string[] = [],
): Map<string, number> {
  const growth = new Map<string, number>();
  let counted = { collection: "", partition: "" };
  let more = 0;
  const add = (): void => {
    if (more === 0) return;
    for (const prefix of [counted.collection, counted.partition]) {
      growth.set(prefix, (growth.get(prefix) ?? 0) + more);
    }
    more = 0;
  };
  for (const { key, entry, previous } of events) {
    // Usually all writes of a batch are in one partition.
    if (!isIn(key, counted.partition)) {
      add();
      counted = countersOf(key);
    }
    more += (entry === undefined ? 0 : 1) - (previous === undefined ? 0 : 1);
  }
  add();
  for (const key of discarded) {
    counted = countersOf(key);
    more = -1;
    add();
  }
  return growth;
}
