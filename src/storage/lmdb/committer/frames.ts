import { deserialize, serialize } from "node:v8";
import type { CommitResult, Write } from "../../store.ts";

/** A request to the process that commits. Answers have the same `id`. */
export type CommitterRequest =
  | { readonly id: number; readonly write: Write }
  /** Asks why writes fail at present. */
  | { readonly id: number; readonly write?: undefined };

/** The answer to a request: the result of a commit, the present obstacle, or an error. */
export interface CommitterAnswer {
  readonly id: number;
  readonly result?: CommitResult | undefined;
  readonly error?: SentError | undefined;
}

/** An error between processes. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly isStoreError: boolean;
  /** Key of a damaged value; the message is then the reason. */
  readonly key?: string;
}

/** Maximum length of a frame in bytes; a frame has the requests of one turn of the event loop. */
const maxFrameBytes = 256 * 1024 * 1024;
const lengthBytes = 4;

/** Encodes messages as one frame: its length in 4 bytes, then the serialized messages. */
export function encodeFrame(messages: readonly (CommitterRequest | CommitterAnswer)[]): Buffer {
  const content = serialize(messages);
  const frame = Buffer.allocUnsafe(lengthBytes + content.length);
  frame.writeUInt32BE(content.length);
  frame.set(content, lengthBytes);
  return frame;
}

/** Reads the frames of a connection. The bytes come from a process of the same server, over a socket in a private folder. */
export class FrameReader {
  private chunks: Buffer[] = [];
  private length = 0;

  /**
   * Returns the messages of the frames that a chunk completes. Their byte arrays are views of the frame.
   *
   * @throws {RangeError} the length of a frame is too large.
   */
  read(chunk: Buffer): unknown[] {
    this.chunks.push(chunk);
    this.length += chunk.length;
    const messages: unknown[] = [];
    for (;;) {
      const frameBytes = this.nextFrameBytes();
      if (frameBytes === undefined || this.length < frameBytes) return messages;
      const all = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks, this.length);
      for (const message of deserialize(all.subarray(lengthBytes, frameBytes)) as unknown[])
        messages.push(message);
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
