/** Bytes that can't be read as the message they should be. */
export class ProtobufFault extends Error {
  override name = "ProtobufFault";

  /** Runs a reader; whatever it throws says that the bytes are wrong. */
  static whileReading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof ProtobufFault) throw error;
      throw new ProtobufFault(error instanceof Error ? error.message : String(error));
    }
  }
}
