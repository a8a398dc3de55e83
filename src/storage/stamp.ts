import { StoreDamagedError, StoreError } from "./store.ts";

/** What a store is used for, as its first user said; opaque to the store. */
export interface Stamp {
  /** A store of one label isn't opened for another one. */
  readonly label: string;
  /** Version of what the users write: a store isn't opened for a lower one, and takes a higher one on. */
  readonly format: number;
}

/** The stamp that a store must have, or takes on if it has none. */
export interface RequestedStamp extends Stamp {
  /**
   * Labels by a key that only stores of that label hold: what a store without a stamp was used for, which is older than
   * stamps. One without any of these keys takes the stamp on.
   */
  readonly telltales: ReadonlyMap<string, string>;
}

/** The store is used for something else; nothing was written. */
export class StoreStampError extends StoreError {
  override name = "StoreStampError";

  constructor(
    /** What the store is used for: one label, or several where a store without a stamp has objects of each. */
    readonly labels: readonly string[],
    /** The store's format; undefined without a stamp. */
    readonly format: number | undefined,
  ) {
    super(`the store is used for ${labels.join(" and ")}${format === undefined ? "" : `, format ${format}`}`);
  }
}

/**
 * The stamp that is to be written into a store; undefined where it has the right one.
 *
 * @param existing the stamp that it has.
 * @param telltaleLabels the labels of the telltales that it holds.
 * @throws {StoreStampError} the store is used for something else.
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

/** The bytes of a stamp. */
export function encodeStamp({ label, format }: Stamp): Buffer {
  return Buffer.from(JSON.stringify({ label, format }));
}

/** @throws {StoreDamagedError} the bytes aren't those of a stamp. */
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
