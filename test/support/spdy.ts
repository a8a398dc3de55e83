import type { Socket } from "node:net";
import { constants, createDeflate } from "node:zlib";
import type { UpgradeListener } from "./backends.ts";

/** What a session does with its streams; they are numbered 1, 3, 5, … in the order in which the client opens them. */
export interface SpdyHandler {
  opened?(session: SpdySession, stream: number): void;
  data?(session: SpdySession, stream: number, bytes: Buffer): void;
}

const [synStream, synReply, ping] = [1, 2, 6];
const fin = 1;

/** Just so much of the server's side of SPDY/3.1 as the field's command line client needs of a node agent. */
export class SpdySession {
  private rest: Buffer = Buffer.alloc(0);
  /** Header blocks are compressed as one stream, whose parts must go out in order. */
  private readonly packer = createDeflate();
  private packed: Buffer[] = [];
  private last: Promise<void> = Promise.resolve();

  private constructor(
    private readonly socket: Socket,
    private readonly handler: SpdyHandler,
  ) {
    this.packer.on("data", (chunk: Buffer) => this.packed.push(chunk));
    socket.on("data", (chunk: Buffer) => this.take(chunk));
    socket.on("end", () => socket.end());
  }

  /** Serves a session on a connection until that ends. */
  static serve(socket: Socket, handler: SpdyHandler): SpdySession {
    return new SpdySession(socket, handler);
  }

  /** Sends bytes on a stream, in their turn; `end` says that they are the last. */
  send(stream: number, bytes: string | Buffer, end = false): void {
    const data = Buffer.from(bytes);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(stream, 0);
    head.writeUInt32BE(((end ? fin : 0) << 24) | data.length, 4);
    this.last = this.last.then(() => void this.socket.write(Buffer.concat([head, data])));
  }

  private take(chunk: Buffer): void {
    this.rest = Buffer.concat([this.rest, chunk]);
    while (this.rest.length >= 8) {
      const length = this.rest.readUInt32BE(4) & 0xff_ffff;
      if (this.rest.length < 8 + length) return;
      const first = this.rest.readUInt32BE(0);
      const body = this.rest.subarray(8, 8 + length);
      this.rest = this.rest.subarray(8 + length);
      if (first >>> 31 === 1) this.control(first & 0xffff, body);
      else if (length > 0) this.handler.data?.(this, first, Buffer.from(body));
    }
  }

  private control(type: number, body: Buffer): void {
    if (type === ping) this.frame(ping, body);
    if (type !== synStream) return;
    const stream = body.readUInt32BE(0);
    this.last = this.last.then(() => this.reply(stream));
    this.handler.opened?.(this, stream);
  }

  private async reply(stream: number): Promise<void> {
    const noHeaders = Buffer.alloc(4);
    await new Promise<void>((resolve) => {
      this.packer.write(noHeaders);
      this.packer.flush(constants.Z_SYNC_FLUSH, () => resolve());
    });
    const id = Buffer.alloc(4);
    id.writeUInt32BE(stream, 0);
    this.frame(synReply, Buffer.concat([id, ...this.packed.splice(0)]));
  }

  private frame(type: number, body: Buffer): void {
    const head = Buffer.alloc(8);
    head.writeUInt32BE((0x8003 * 0x1_0000 + type) >>> 0, 0);
    head.writeUInt32BE(body.length, 4);
    this.socket.write(Buffer.concat([head, body]));
  }
}

/** Takes offers of SPDY, in the version of the protocol above it that is given; refuses any other. */
export function spdyUpgrade(version: (path: string) => string, handler: SpdyHandler): UpgradeListener {
  return (request, socket) => {
    if (request.headers.upgrade !== "SPDY/3.1") {
      socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\nConnection: close\r\n\r\nonly SPDY");
      return;
    }
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n" +
        `X-Stream-Protocol-Version: ${version(request.url!)}\r\n\r\n`,
    );
    SpdySession.serve(socket, handler);
  };
}
