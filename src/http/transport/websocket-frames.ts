/** The kinds of frames of RFC 6455 that are used here, by their opcode. */
export const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** The kind of a frame. */
export type FrameKind = keyof typeof opcodes;

/** The status codes of close frames that are used here. */
export const closeCodes = { normal: 1000, protocolError: 1002 } as const;

/** Returns one unfragmented frame of a server. */
export function webSocketFrame(kind: FrameKind, payload: Uint8Array): Buffer {
  const { length } = payload;
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = Buffer.allocUnsafe(2 + lengthBytes + length);
  frame[0] = 0x80 | opcodes[kind];
  frame[1] = lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127;
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2);
  if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  frame.set(payload, 2 + lengthBytes);
  return frame;
}

/** Returns a close frame with a status code. */
export function closeFrame(code: number): Buffer {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return webSocketFrame("close", payload);
}

/** Receives what a client sends. After `closed` or `failed` nothing more is reported. */
export interface FrameObserver {
  ping(payload: Buffer): void;
  closed(): void;
  /** The client violates the protocol. */
  failed(): void;
}

/** Largest payload of a control frame, in bytes. */
const maxControlBytes = 125;

/**
 * Reads the frames of a client whose messages are ignored: drops the payload of messages as it arrives, and reports pings and the close
 * frame. It keeps at most the head and payload of one control frame.
 */
export class FrameReader {
  private incomplete: Buffer = Buffer.alloc(0);
  /** Bytes of a message's payload that haven't arrived. */
  private skipBytes = 0n;
  private isDone = false;

  constructor(private readonly observer: FrameObserver) {}

  /** Reads the next bytes of the connection. */
  read(bytes: Buffer): void {
    let rest = this.incomplete.length === 0 ? bytes : Buffer.concat([this.incomplete, bytes]);
    this.incomplete = rest.subarray(0, 0);
    while (!this.isDone && rest.length > 0) {
      if (this.skipBytes > 0n) {
        const skipped = this.skipBytes < BigInt(rest.length) ? Number(this.skipBytes) : rest.length;
        this.skipBytes -= BigInt(skipped);
        rest = rest.subarray(skipped);
        continue;
      }
      const readBytes = this.readFrame(rest);
      if (readBytes === 0) {
        this.incomplete = Buffer.from(rest);
        return;
      }
      rest = rest.subarray(readBytes);
    }
  }

  /** Reads the head of a frame, and a whole control frame. Returns the number of bytes read; 0 if some are missing. */
  private readFrame(bytes: Buffer): number {
    if (bytes.length < 2) return 0;
    const [first, second] = [bytes[0]!, bytes[1]!];
    const opcode = first & 0x0f;
    const isControl = opcode >= opcodes.close;
    const shortLength = second & 0x7f;
    const isFragment = (first & 0x80) === 0;
    const isInvalid =
      (first & 0x70) !== 0 ||
      (second & 0x80) === 0 ||
      (opcode > opcodes.binary && opcode < opcodes.close) ||
      opcode > opcodes.pong ||
      (isControl && (isFragment || shortLength > maxControlBytes));
    if (isInvalid) {
      this.isDone = true;
      this.observer.failed();
      return bytes.length;
    }
    const lengthBytes = shortLength < 126 ? 0 : shortLength === 126 ? 2 : 8;
    const headBytes = 2 + lengthBytes + 4;
    if (bytes.length < headBytes) return 0;
    if (!isControl) {
      this.skipBytes =
        lengthBytes === 0
          ? BigInt(shortLength)
          : lengthBytes === 2
            ? BigInt(bytes.readUInt16BE(2))
            : bytes.readBigUInt64BE(2);
      return headBytes;
    }
    const end = headBytes + shortLength;
    if (bytes.length < end) return 0;
    this.control(opcode, unmasked(bytes.subarray(2, 6), bytes.subarray(6, end)));
    return end;
  }

  private control(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.ping) this.observer.ping(payload);
    if (opcode !== opcodes.close) return;
    this.isDone = true;
    this.observer.closed();
  }
}

function unmasked(mask: Buffer, payload: Buffer): Buffer {
  return Buffer.from(payload.map((byte, index) => byte ^ mask[index % 4]!));
}
