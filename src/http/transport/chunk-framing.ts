/** The framing of the bodies of one protocol. */
export interface BodyFraming {
  /** Returns what to write for these bytes, in order. */
  frame(bytes: Uint8Array): readonly Uint8Array[];
  /** Written after the body. */
  readonly end: Uint8Array;
}

const lineEnd = Buffer.from("\r\n");
/** Longer bytes are copied only if they are written again. */
const copiedBytes = 16 * 1024;

/**
 * Frames chunks of HTTP/1.1. Node does that too, but in four writes for each chunk and connection; here the same bytes that are written
 * to many connections, as the events of watches, are framed once.
 */
export class ChunkFraming implements BodyFraming {
  readonly end = Buffer.from("0\r\n\r\n");
  private last: Uint8Array | undefined;
  private framed: readonly Uint8Array[] | undefined;

  frame(bytes: Uint8Array): readonly Uint8Array[] {
    if (bytes.length === 0) return [];
    const isAgain = bytes === this.last;
    if (isAgain && this.framed !== undefined) return this.framed;
    this.last = bytes;
    this.framed = undefined;
    const head = Buffer.from(`${bytes.length.toString(16)}\r\n`, "latin1");
    if (!isAgain && bytes.length > copiedBytes) return [head, bytes, lineEnd];
    return (this.framed = [Buffer.concat([head, bytes, lineEnd])]);
  }
}
