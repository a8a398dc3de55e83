import { decodeStamp, encodeStamp, type Stamp, stampToWrite, type RequestedStamp } from "../stamp.ts";
import { StoreDamagedError } from "../store.ts";
import { seal, unseal } from "./checksum.ts";
import type { Environment } from "./databases.ts";

type Databases = Pick<Environment, "meta" | "data">;

/** Key of the stamp in the database `meta`. */
const stampKey = "stamp";

/**
 * Returns the stamp of a store; undefined if it has none.
 *
 * @throws {StoreDamagedError} if it is damaged.
 */
export function stampIn({ meta }: Pick<Environment, "meta">): Stamp | undefined {
  const bytes = meta.getBinary(stampKey);
  try {
    return decodeStamp(bytes && unseal(bytes));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StoreDamagedError(`the store's stamp is damaged: ${error.message}`, { cause: error });
  }
}

/**
 * Checks the stamp of a store and writes it if needed. Call it in a write transaction.
 *
 * @throws {StoreStampError} if the store has a different stamp.
 */
export function claimStamp(databases: Databases, requested: RequestedStamp): void {
  const stamp = missingStamp(databases, requested);
  if (stamp !== undefined) putStamp(databases, stamp);
}

/** Writes the stamp of a store. Call it in a write transaction. */
export function putStamp({ meta }: Pick<Environment, "meta">, stamp: Stamp): void {
  meta.putSync(stampKey, seal(encodeStamp(stamp)));
}

/**
 * Returns the stamp that {@link claimStamp} would write; undefined if the store already has it.
 *
 * @throws as {@link claimStamp}.
 */
export function missingStamp({ meta, data }: Databases, requested: RequestedStamp): Stamp | undefined {
  const labels = Array.from(requested.telltales)
    .filter(([key]) => data.getBinary(key) !== undefined)
    .map(([, label]) => label);
  return stampToWrite(requested, stampIn({ meta }), labels);
}
