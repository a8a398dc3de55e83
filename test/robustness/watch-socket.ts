import { expect } from "vitest";
import type { TestServer } from "../support/api.ts";
import { portOf, RawConnection } from "./support.ts";

/** The headers of a WebSocket handshake. */
export const handshake = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

/** A message of the server. */
export interface Message {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** The close frame with code 1000. */
export const normalClose: Message = { opcode: 8, payload: Buffer.from([0x03, 0xe8]) };

/** Where a socket connects to, and as whom. */
export interface SocketOptions {
  readonly headers?: readonly string[] | undefined;
  /** Undefined: that of the administrator; empty: none. */
  readonly token?: string;
}

const sockets: RawConnection[] = [];

/** Closes the sockets of a test. */
export function closeSockets(): void {
  for (const one of sockets.splice(0)) one.destroy();
}

/** A WebSocket client that shows what the server sends. */
export class WatchSocket {
  private constructor(private readonly raw: RawConnection) {}

  static open(to: TestServer, target: string, options: SocketOptions = {}): Promise<WatchSocket> {
    const { headers, token = to.server.adminToken } = options;
    return WatchSocket.at(portOf(to), target, { headers, token });
  }

  /** Opens a socket to a port of this machine. */
  static async at(port: number, target: string, options: SocketOptions): Promise<WatchSocket> {
    const { headers = handshake, token = "" } = options;
    const raw = await RawConnection.open(port);
    sockets.push(raw);
    const credentials = token === "" ? [] : [`Authorization: Bearer ${token}`];
    const lines = [`GET ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...credentials, ...headers, "", ""];
    return new WatchSocket(raw.write(lines.join("\r\n")));
  }

  /** The head of the response. */
  async head(): Promise<string> {
    const text = await this.raw.receives(/\r\n\r\n/);
    return text.slice(0, text.indexOf("\r\n\r\n"));
  }

  /** Status and body of a response that is no WebSocket. */
  async refusal(): Promise<[status: number, body: string]> {
    const text = await this.raw.closes();
    return [Number(text.slice(9, 12)), text.slice(text.indexOf("\r\n\r\n") + 4)];
  }

  /** The messages so far, of which there are at least as many. */
  async messages(count: number): Promise<Message[]> {
    const frames = new Frames();
    await this.raw.receives({ test: (text: string) => frames.read(text).length >= count } as RegExp);
    return frames.messages;
  }

  /** All messages, when the server has closed the connection. */
  async closed(): Promise<Message[]> {
    return messagesIn(await this.raw.closes());
  }

  /** Sends a frame. */
  send(opcode: number, payload: string, first = 0x80): void {
    const bytes = Buffer.from(payload);
    const mask = [1, 2, 3, 4];
    const masked = bytes.map((byte, index) => byte ^ mask[index % 4]!);
    const length =
      bytes.length < 126 ? [0x80 | bytes.length] : [0xfe, bytes.length >> 8, bytes.length & 0xff];
    this.raw.write(Buffer.from([first | opcode, ...length, ...mask, ...masked]));
  }

  /** Reads nothing more. */
  pause(): void {
    this.raw.socket.pause();
  }

  /** Reads on. */
  resume(): void {
    this.raw.socket.resume();
  }

  end(): void {
    this.raw.socket.end();
  }
}

const messagesIn = (text: string): Message[] => new Frames().read(text);

/** Reads the frames of a text that grows; of large frames, no byte is read twice. */
class Frames {
  readonly messages: Message[] = [];
  /** Where the next frame begins; 0 before the head is complete. */
  private start = 0;
  /** The length from which on the text has the next frame. */
  private complete = 0;

  read(text: string): Message[] {
    if (this.start === 0) {
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return this.messages;
      this.start = end + 4;
    }
    while (text.length >= Math.max(this.complete, this.start + 2)) {
      const head = Buffer.from(text.slice(this.start, this.start + 10), "latin1");
      expect(head[0]! & 0xf0).toBe(0x80);
      const short = head[1]!;
      const headBytes = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (head.length < headBytes) break;
      const length =
        short < 126 ? short : short === 126 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
      const payload = this.start + headBytes;
      this.complete = payload + length;
      if (text.length < this.complete) break;
      this.messages.push({
        opcode: head[0]! & 0x0f,
        payload: Buffer.from(text.slice(payload, this.complete), "latin1"),
      });
      this.start = this.complete;
    }
    return this.messages;
  }
}

/** The events of text messages. */
export const eventsOf = (messages: readonly Message[]) =>
  messages.filter(({ opcode }) => opcode === 1).map(({ payload }) => JSON.parse(payload.toString()));

/** Types and names of the events of text messages. */
export const shownEvents = (messages: readonly Message[]): string[] =>
  eventsOf(messages).map(({ type, object }) => `${type} ${object.metadata.name}`);
