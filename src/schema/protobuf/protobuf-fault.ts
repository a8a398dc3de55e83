/** The bytes aren't a valid message. */
export class ProtobufFault extends Error {
  override name = "ProtobufFault";

  /** Runs a decoder and converts any exception to a ProtobufFault. */
  static whileReading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof ProtobufFault) throw error;
      throw new ProtobufFault(error instanceof Error ? error.message : String(error));
    }
  }
}
