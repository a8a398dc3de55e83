/** What all engines share for the transactions of `Store.transact`. */
import { assertKey } from "./keys.ts";
import {
  type CommitResult,
  type TransactionLimits,
  TransactionLimitError,
  type TransactionResult,
  type Write,
} from "./store.ts";

/**
 * Limits of the engines that execute a transaction in this process: it is one step of a few milliseconds, during which nothing else
 * runs. Kept history and pins need a half of them, and a branch a half of what remains: 512 writes.
 */
export const defaultTransactionLimits: TransactionLimits = { writes: 2050, bytes: 8 * 1024 * 1024 };

/** The sum of headers and bodies that writes store, in bytes. */
export function draftBytes(writes: readonly Write[]): number {
  let bytes = 0;
  for (const write of writes)
    if (write.kind !== "delete") bytes += write.draft.header.length + write.draft.body.length;
  return bytes;
}

/**
 * Checks the writes of a transaction before anything is done.
 *
 * @throws {TransactionLimitError} they exceed the limits.
 * @throws {TypeError} (a bug of the caller) without writes, for an invalid key, or for two writes of one key.
 */
export function assertTransaction(writes: readonly Write[], limits: TransactionLimits): void {
  if (writes.length === 0) throw new TypeError("a transaction without writes");
  const keys = new Set<string>();
  let conditions = 0;
  for (const write of writes) {
    assertKey(write.key);
    if (keys.has(write.key)) throw new TypeError(`a transaction with two writes of ${write.key}`);
    keys.add(write.key);
    conditions += write.conditions?.length ?? 0;
  }
  refuseAbove("writes", writes.length, limits.writes);
  refuseAbove("conditions", conditions, 2 * limits.writes - writes.length);
  refuseAbove("bytes", draftBytes(writes), limits.bytes);
}

function refuseAbove(what: TransactionLimitError["what"], actual: number, limit: number): void {
  if (actual > limit) throw new TransactionLimitError(what, actual, limit);
}

/** Returns the result of a transaction of one write as that of the write alone. */
export function singleResult(result: TransactionResult): CommitResult {
  if (result.ok) return { ok: true, revision: result.revision, entry: result.entries[0]! };
  const { ok, current, failedCondition } = result;
  return failedCondition === undefined ? { ok, current } : { ok, current, failedCondition };
}
