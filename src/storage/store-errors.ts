/** The errors of the store contract (`store.ts`). */
import type { Revision } from "./revision.ts";

/** An operational failure of a store. Bugs are other errors. */
export class StoreError extends Error {
  override name = "StoreError";
}

/** The revision is older than the retained history. */
export class RevisionCompactedError extends StoreError {
  override name = "RevisionCompactedError";
  constructor(
    readonly requested: Revision,
    readonly floor: Revision,
  ) {
    super(`revision ${requested} is no longer retained; the oldest is ${floor}`);
  }
}

/** The revision is above the store's latest one. */
export class RevisionTooNewError extends StoreError {
  override name = "RevisionTooNewError";
  constructor(
    readonly requested: Revision,
    readonly latest: Revision,
  ) {
    super(`revision ${requested} is not known yet; the latest is ${latest}`);
  }
}

/** No space for the write; nothing was written. */
export class StoreFullError extends StoreError {
  override name = "StoreFullError";
}

/** A transaction has more writes, conditions or bytes than the store accepts; nothing was written. */
export class TransactionLimitError extends StoreError {
  override name = "TransactionLimitError";
  constructor(
    readonly what: "writes" | "conditions" | "bytes",
    readonly actual: number,
    readonly limit: number,
  ) {
    super(`a transaction of ${actual} ${what}: the store accepts at most ${limit}; nothing was written`);
  }
}

/** The write timed out before it began; it was not applied and never will be. */
export class StoreTimeoutError extends StoreError {
  override name = "StoreTimeoutError";
}

/** The store was closed. */
export class StoreClosedError extends StoreError {
  override name = "StoreClosedError";
}

/** The store cannot be reached or did not answer in time; a write's outcome may be unknown. */
export class StoreUnavailableError extends StoreError {
  override name = "StoreUnavailableError";
}

/** The data folder or its content can't be used: unwritable, damaged, or of another format version. */
export class StoreDamagedError extends StoreError {
  override name = "StoreDamagedError";
}

/** One stored value is damaged; the others can be read. */
export class StoreValueError extends StoreError {
  override name = "StoreValueError";
  constructor(
    readonly key: string,
    readonly reason: string,
  ) {
    super(`the stored value of ${key} is damaged: ${reason}; restore a backup into an empty folder`);
  }
}
