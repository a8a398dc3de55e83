import type { Entry } from "../../storage/store.ts";

/** What an operation of a transaction can read of the writes before it. */
export interface StagedEntries {
  /** The entry of a key that the transaction has written; undefined if it hasn't, or has deleted it. */
  stagedEntry(key: string): Entry | undefined;
}
