import { revisionOf } from "../entry.ts";
import {
  type CommitResult,
  type Entry,
  type Revision,
  StoreFullError,
  StoreUnavailableError,
  type TransactionLimits,
  type TransactionResult,
  type Write,
} from "../store.ts";
import { singleResult } from "../transaction.ts";
import { CompactedSignal, type Connection, type WriteAnswer } from "./connection.ts";
import type { Keyspace } from "./keyspace.ts";
import type { KeyValue, RequestOp, TxnRequest } from "./messages.ts";
import { decodeEntry, encodeValue } from "./value.ts";
import { randomBytes } from "node:crypto";

/**
 * A request has as many comparisons as writes and conditions, at most 126, and reads those keys and the marker if it fails; members
 * accept 128 of each by default (`--max-txn-ops`). Keys, which a request has up to three times, fit beside 1 MiB of values into the
 * default of `--max-request-bytes`, 1.5 MiB.
 */
export const etcdTransactionLimits: TransactionLimits = { writes: 63, bytes: 1024 * 1024 };

/** Limits of a transaction of so few writes that their keys take little space: a single value of 1.5 MB can be in it. */
const fewWritesLimits: TransactionLimits = { writes: 4, bytes: 1_505_000 };

/** Returns the limits of a transaction. */
export function limitsFor(writes: readonly Write[]): TransactionLimits {
  return writes.length <= fewWritesLimits.writes ? fewWritesLimits : etcdTransactionLimits;
}

/** A write as it is sent. */
interface SentWrite {
  readonly write: Write;
  readonly key: Buffer;
  /** The new value; undefined for a delete. */
  readonly value: Buffer | undefined;
  /** Revision of the value that is replaced; 0 for a create. */
  readonly expected: number;
}

/** Executes the writes of a store in transactions, each of which also writes the marker. */
export class Writer {
  private readonly tokens = new WriteTokens();

  constructor(
    private readonly connection: Connection,
    private readonly keyspace: Keyspace,
  ) {}

  /** As {@link Writer.transact}, for one write. */
  async write(write: Write): Promise<CommitResult> {
    return singleResult(await this.transact([write]));
  }

  /**
   * Executes writes in one transaction.
   *
   * @throws {StoreFullError} nothing was written.
   * @throws {StoreUnavailableError} the writes may have taken effect, unless the message says otherwise.
   */
  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    const { marker } = this.keyspace;
    const sent = writes.map((write) => this.sentWrite(write));
    const conditions = writes.flatMap((write) =>
      (write.conditions ?? []).map(({ key, revision }) => ({
        key: this.keyspace.outer(key),
        modRevision: revision,
      })),
    );
    const [expect, ...others] = sent.map(({ key, expected }) => ({ key, modRevision: expected }));
    const token = this.tokens.next();
    const { succeeded, revision, results, doubtful } = await this.send(sent, token, {
      expect,
      conditions: [...others, ...conditions],
      success: [...sent.map(changeOf), { put: { key: marker, value: token } }],
      failure: readsOf([...sent, ...conditions, { key: marker }]),
    });
    if (succeeded) {
      const deleted = results.length > 0 ? results.map(({ kvs }) => kvs[0]) : undefined;
      return this.success(sent, revision, deleted);
    }
    const state = results.map(({ kvs }) => kvs[0]);
    if (!doubtful) return refusalOf(sent, state);
    const at = await this.revisionOfToken(token, sent, state);
    if (at !== undefined) return this.success(sent, at, undefined);
    // Writes of other servers may have followed our transaction without an answer.
    throw new StoreUnavailableError(`whether ${namesOf(sent)} was written isn't known`);
  }

  /**
   * Removes the value of a key that was written at a revision, without reading it.
   *
   * @returns the revision of the removal; undefined if the key has another value or none.
   */
  async remove(key: string, modRevision: number): Promise<Revision | undefined> {
    const outer = this.keyspace.outer(key);
    const { succeeded, revision } = await this.connection.write(
      {
        expect: { key: outer, modRevision },
        success: [
          { remove: { key: outer } },
          { put: { key: this.keyspace.marker, value: this.tokens.next() } },
        ],
      },
      true,
    );
    return succeeded ? revisionOf(revision) : undefined;
  }

  private sentWrite(write: Write): SentWrite {
    return {
      write,
      key: this.keyspace.outer(write.key),
      value: write.kind === "delete" ? undefined : encodeValue(write.draft),
      expected: write.kind === "create" ? 0 : write.expected,
    };
  }

  /**
   * Sends a transaction. If it has an expected revision it can be repeated, because that revision never returns. Creates alone aren't
   * repeated: a late first attempt could recreate objects that were deleted since; their outcome is read instead.
   */
  private async send(sent: readonly SentWrite[], token: Buffer, request: TxnRequest): Promise<WriteAnswer> {
    const repeatable = sent.some(({ expected }) => expected > 0);
    try {
      return await this.connection.write(request, repeatable);
    } catch (error) {
      const unanswered = !repeatable && error instanceof StoreUnavailableError;
      if (!unanswered && !(error instanceof StoreFullError)) throw error;
      // etcd rejects the write that exceeds the quota, but executes it.
      const { results } = await this.connection.readTogether({
        success: readsOf([...sent, { key: this.keyspace.marker }]),
      });
      const state = results.map(({ kvs }) => kvs[0]);
      const revision = await this.revisionOfToken(token, sent, state);
      if (revision !== undefined) return { revision, succeeded: true, results: [], doubtful: false };
      const isGone = ({ write, expected }: SentWrite, index: number) =>
        write.kind === "delete" && state[index]?.modRevision !== expected;
      if (sent.some(isGone)) {
        throw new StoreUnavailableError(`whether it was removed isn't known: ${String(error)}`, {
          cause: error,
        });
      }
      throw error;
    }
  }

  /**
   * Returns the revision at which the transaction with a token was executed; undefined if that isn't known: it wasn't, or all its values
   * and the marker have changed since, or its revision is compacted.
   *
   * @param state the values of the written keys, and of the marker as the last one, at one revision.
   */
  private async revisionOfToken(
    token: Buffer,
    sent: readonly SentWrite[],
    state: readonly (KeyValue | undefined)[],
  ): Promise<number | undefined> {
    const marker = state.at(-1);
    if (marker !== undefined && token.equals(marker.value)) return marker.modRevision;
    const candidates = new Set<number>();
    for (const [index, { expected }] of sent.entries()) {
      const { modRevision = 0 } = state[index] ?? {};
      if (modRevision > expected) candidates.add(modRevision);
    }
    for (const revision of candidates) {
      try {
        const { kvs } = await this.connection.range({ key: this.keyspace.marker, revision });
        if (kvs[0] !== undefined && token.equals(kvs[0].value)) return revision;
      } catch (error) {
        if (!(error instanceof CompactedSignal)) throw error;
      }
    }
    return undefined;
  }

  /** @param deleted the deleted value of each write that is a delete; undefined if the answer with them was lost. */
  private async success(
    sent: readonly SentWrite[],
    at: number,
    deleted: readonly (KeyValue | undefined)[] | undefined,
  ): Promise<TransactionResult> {
    const before = deleted ?? (await this.valuesBefore(sent, at));
    const entries = sent.map(({ write, key, value }, index): Entry => {
      const stored = value === undefined ? before[index]! : { key, version: 0, modRevision: at, value };
      return decodeEntry(write.key, stored);
    });
    return { ok: true, revision: revisionOf(at), entries };
  }

  /** Reads the values that the deletes of a transaction removed. */
  private async valuesBefore(
    sent: readonly SentWrite[],
    at: number,
  ): Promise<readonly (KeyValue | undefined)[]> {
    if (sent.every(({ value }) => value !== undefined)) return [];
    try {
      const { results } = await this.connection.readTogether({ success: readsOf(sent, at - 1) });
      return results.map(({ kvs }) => kvs[0]);
    } catch (error) {
      if (!(error instanceof CompactedSignal)) throw error;
      throw new StoreUnavailableError(
        `${namesOf(sent)} was written at revision ${at}, but the answer was lost, and the deleted values are compacted`,
        { cause: error },
      );
    }
  }
}

function changeOf({ key, value }: SentWrite): RequestOp {
  return value === undefined ? { remove: { key } } : { put: { key, value } };
}

/** Returns the reads of keys, at a revision or the latest one. */
function readsOf(of: readonly { readonly key: Buffer }[], revision?: number): RequestOp[] {
  return of.map(({ key }) => ({ range: { key, revision } }));
}

function namesOf(sent: readonly SentWrite[]): string {
  const [first, ...others] = sent;
  return others.length === 0
    ? first!.write.key
    : `the transaction of ${first!.write.key} and ${others.length} more`;
}

/**
 * Returns the first write that failed.
 *
 * @param state the values of the written keys, then of the keys of all conditions.
 */
function refusalOf(sent: readonly SentWrite[], state: readonly (KeyValue | undefined)[]): TransactionResult {
  const revisionAt = (index: number): number => state[index]?.modRevision ?? 0;
  let conditionsBefore = sent.length;
  for (const [failedWrite, { write, expected }] of sent.entries()) {
    const { key, conditions = [] } = write;
    const stored = state[failedWrite];
    const current = (): Entry | undefined => (stored === undefined ? undefined : decodeEntry(key, stored));
    if (revisionAt(failedWrite) !== expected) return { ok: false, failedWrite, current: current() };
    const first = conditionsBefore;
    const failedCondition = conditions.findIndex(
      ({ revision }, index) => revision !== revisionAt(first + index),
    );
    if (failedCondition >= 0) return { ok: false, failedWrite, current: current(), failedCondition };
    conditionsBefore += conditions.length;
  }
  throw new Error("etcd refused a transaction whose conditions are all met");
}

/**
 * Creates a token for each write of one store object. A write transaction puts its token into the marker, so that a write without an
 * answer is recognized by the marker at the revision of the stored value, also when another server wrote an equal value.
 */
class WriteTokens {
  private readonly store = randomBytes(8);
  private count = 0;

  next(): Buffer {
    const token = Buffer.alloc(14);
    this.store.copy(token);
    token.writeUIntBE(++this.count, 8, 6);
    return token;
  }
}
