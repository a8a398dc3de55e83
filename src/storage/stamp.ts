import { StoreDamagedError, StoreError } from "./store.ts";

/** Identifies what a store is used for; written by the first opener, opaque to the store. */
export interface Stamp {
  /** Opening a store with another label fails. */
  readonly label: string;
  /** Version of the stored data. Opening with a lower format fails; opening with a higher one updates the stamp. */
  readonly format: number;
}

/** The stamp that a store must have; it is written if the store has none. */
export interface RequestedStamp extends Stamp {
  /**
   * Maps a key that exists only in stores of one label to that label. Detects the use of older stores, which have no stamp.
   * A store with none of these keys gets the stamp.
   */
  readonly telltales: ReadonlyMap<string, string>;
}

/** The store has a different stamp; nothing was written. */
export class StoreStampError extends StoreError {
  override name = "StoreStampError";

  constructor(
    /** Label of the store; several if a store without a stamp has telltale keys of several labels. */
    readonly labels: readonly string[],
    /** The store's format; undefined if it has no stamp. */
    readonly format: number | undefined,
  ) {
    super(`the store is used for ${labels.join(" and ")}${format === undefined ? "" : `, format ${format}`}`);
  }
}

/**
 * Returns the stamp to write into a store; undefined if the store already has it.
 *
 * @param existing the store's stamp.
 * @param telltaleLabels labels of the telltale keys in the store.
 * @throws {StoreStampError} if the store has a different stamp.
 */
export function stampToWrite(
  { label, format }: RequestedStamp,
  existing: Stamp | undefined,
  telltaleLabels: readonly string[],
): Stamp | undefined {
  const labels = existing === undefined ? [...new Set(telltaleLabels)] : [existing.label];
  if (labels.some((one) => one !== label) || (existing?.format ?? 0) > format)
    throw new StoreStampError(labels, existing?.format);
  return existing?.format === format ? undefined : { label, format };
}

export function encodeStamp({ label, format }: Stamp): Buffer {
  return Buffer.from(JSON.stringify({ label, format }));
}

/** @throws {StoreDamagedError} for malformed bytes. */
export function decodeStamp(bytes: Uint8Array | undefined): Stamp | undefined {
  if (bytes === undefined) return undefined;
  try {
    const { label, format } = (JSON.parse(Buffer.from(bytes).toString()) ?? {}) as Partial<Stamp>;
    if (typeof label === "string" && Number.isSafeInteger(format)) return { label, format: format! };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new StoreDamagedError("the store's stamp can't be read: restore a backup into an empty store");
}
