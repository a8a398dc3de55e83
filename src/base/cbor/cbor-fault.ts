/** The bytes aren't a valid CBOR data item, or have a value that JSON can't represent. */
export class CborFault extends Error {
  override name = "CborFault";

  /** @param offset offset of the fault in bytes. */
  constructor(message: string, offset: number) {
    super(`${message} (at byte ${offset})`);
  }
}
