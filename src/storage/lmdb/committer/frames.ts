/** Maximum length of a frame in bytes; a frame has the messages of one turn of the event loop. */
const maxFrameBytes = 256 * 1024 * 1024;
const lengthBytes = 4;

/** Encodes messages as one frame: its length in 4 bytes, then the messages. */
export function encodeFrame(messages: readonly Buffer[]): Buffer {
  let length = 0;
  for (const message of messages) length += message.length;
  const frame = Buffer.allocUnsafe(lengthBytes + length);
  let at = frame.writeUInt32BE(length);
  for (const message of messages) {
    frame.set(message, at);
    at += message.length;
  }
  return frame;
}

/** Reads the frames of a connection. The bytes come from a process of the same server, over a socket in a private folder. */
export class FrameReader {
  private chunks: Buffer[] = [];
  private length = 0;

  /**
   * Returns the contents of the frames that a chunk completes.
   *
   * @throws {RangeError} the length of a frame is too large.
   */
  read(chunk: Buffer): Buffer[] {
    this.chunks.push(chunk);
    this.length += chunk.length;
    const contents: Buffer[] = [];
    for (;;) {
      const frameBytes = this.nextFrameBytes();
      if (frameBytes === undefined || this.length < frameBytes) return contents;
      const all = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks, this.length);
      contents.push(all.subarray(lengthBytes, frameBytes));
      const rest = all.subarray(frameBytes);
      this.chunks = rest.length === 0 ? [] : [rest];
      this.length = rest.length;
    }
  }

  /** Returns the length of the next frame with its header; undefined if the header isn't complete. */
  private nextFrameBytes(): number | undefined {
    if (this.length < lengthBytes) return undefined;
    if (this.chunks[0]!.length < lengthBytes) this.chunks = [Buffer.concat(this.chunks, this.length)];
    const contentBytes = this.chunks[0]!.readUInt32BE(0);
    if (contentBytes > maxFrameBytes) throw new RangeError(`a frame of ${contentBytes} bytes`);
    return lengthBytes + contentBytes;
  }
}
