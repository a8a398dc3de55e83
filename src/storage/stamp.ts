import { StoreDamagedError, StoreError } from "./store.ts";

/** Label and format of the data in a store, set by its first user; opaque to the store. */
export interface Stamp {
  /** A store with another label can't be opened. */
  readonly label: string;
  /** Version of the data format. A store can't be opened with a lower one; opening it with a higher one raises it. */
  readonly format: number;
}

/** The stamp that a store must have; it is written if the store has none. */
export interface RequestedStamp extends Stamp {
  /**
   * Keys that only stores of one label have, with the label. They identify stores that were created before stamps existed. A store
   * with none of these keys accepts any stamp.
   */
  readonly telltales: ReadonlyMap<string, string>;
}

/** The store has a different stamp; nothing was written. */
export class StoreStampError extends StoreError {
  override name = "StoreStampError";

  constructor(
    /** The store's label, or several if a store without a stamp has telltale keys of several labels. */
    readonly labels: readonly string[],
    /** The store's format; undefined if it has no stamp. */
    readonly format: number | undefined,
  ) {
    super(`the store is used for ${labels.join(" and ")}${format === undefined ? "" : `, format ${format}`}`);
  }
}

/**
 * Returns the stamp to write to a store; undefined if it already has the requested one.
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
    const { label, format } = JSON.parse(Buffer.from(bytes).toString()) as Partial<Stamp>;
    if (typeof label === "string" && Number.isSafeInteger(format)) return { label, format: format! };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new StoreDamagedError("the store's stamp can't be read: restore a backup into an empty store");
}
