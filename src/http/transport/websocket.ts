import { createHash } from "node:crypto";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { StatusError } from "../../base/status-error.ts";
import { stallMs, type BodyStream } from "./body-stream.ts";
import type { HeaderLines } from "./header-lines.ts";
import type { HttpExchange } from "./http-exchange.ts";
import { closeCodes, closeFrame, FrameReader, webSocketFrame } from "./websocket-frames.ts";

/** Appended to a client's key before it is hashed (RFC 6455 section 1.3). */
const keySuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** Whether a request asks for a WebSocket and its connection can become one. */
export function wantsWebSocket({ upgrade }: HttpExchange): boolean {
  return upgrade?.protocol.toLowerCase() === "websocket";
}

/**
 * Returns the header lines with which the server agrees to a WebSocket.
 *
 * @param hidesProtocol whether a subprotocol of the request isn't one, but a credential.
 * @throws {StatusError} BadRequest for a malformed handshake, or several subprotocols of which the server can't choose one.
 */
export function webSocketHandshake(
  exchange: HttpExchange,
  hidesProtocol: (name: string) => boolean,
): HeaderLines {
  const version = exchange.header("sec-websocket-version") ?? "";
  if (version !== "13") {
    exchange.addHeaders(["Sec-WebSocket-Version", "13"]);
    throw new StatusError("BadRequest", `Sec-WebSocket-Version is ${JSON.stringify(version)}; it must be 13`);
  }
  const key = exchange.header("sec-websocket-key") ?? "";
  if (key === "") throw new StatusError("BadRequest", "a WebSocket request requires Sec-WebSocket-Key");
  const offered = (exchange.header("sec-websocket-protocol") ?? "").split(",").map((one) => one.trim());
  const protocols = offered.filter((one) => one !== "" && !hidesProtocol(one));
  if (protocols.length > 1) {
    throw new StatusError(
      "BadRequest",
      `Sec-WebSocket-Protocol offers ${protocols.length} subprotocols; a watch allows one`,
    );
  }
  const accept = createHash("sha1").update(`${key}${keySuffix}`).digest("base64");
  const lines = ["Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Accept", accept];
  return protocols.length === 0 ? lines : [...lines, "Sec-WebSocket-Protocol", protocols[0]!];
}

/**
 * Switches the connection to a WebSocket to which the server alone writes. The stream takes whole frames; its end is a close frame.
 * The client's messages are dropped; its pings are answered.
 */
export function openWebSocket(exchange: HttpExchange, handshake: HeaderLines, clock: Clock): BodyStream {
  return new WebSocketStream(exchange, handshake, clock);
}

class WebSocketStream implements BodyStream {
  private readonly body: BodyStream;
  /** The payload of the client's last ping that isn't answered; earlier ones needn't be (RFC 6455 section 5.5.3). */
  private ping: Buffer | undefined;
  private closing: Timer | undefined;

  constructor(
    private readonly exchange: HttpExchange,
    handshake: HeaderLines,
    private readonly clock: Clock,
  ) {
    const { guard } = exchange;
    const { socket, body } = exchange.upgrade!.stream(handshake);
    this.body = body;
    const reader = new FrameReader({
      ping: (payload) => this.pong(payload),
      closed: () => this.close(closeCodes.normal),
      failed: () => this.close(closeCodes.protocolError),
    });
    guard.on(socket, "data", (bytes: Buffer) => reader.read(bytes), socket);
    guard.once(socket, "end", () => socket.destroy(), socket);
    exchange.onClose(() => this.closing?.cancel());
  }

  write(bytes: Uint8Array): boolean {
    return this.body.write(bytes);
  }

  get needsDrain(): boolean {
    return this.body.needsDrain;
  }

  onDrain(listener: () => void): void {
    this.body.onDrain(listener);
  }

  get backlogBytes(): number {
    return this.body.backlogBytes;
  }

  get closed(): boolean {
    return this.body.closed;
  }

  end(): void {
    this.close(closeCodes.normal);
  }

  destroy(): void {
    this.body.destroy();
  }

  /** Answers the last ping when the client has read what was sent before. */
  private pong(payload: Buffer): void {
    const isWaiting = this.ping !== undefined;
    this.ping = payload;
    if (isWaiting) return;
    const answer = () => {
      const last = this.ping!;
      this.ping = undefined;
      this.write(webSocketFrame("pong", last));
    };
    if (this.needsDrain) this.onDrain(this.exchange.guard.wrap("pong", answer, this));
    else answer();
  }

  /** Sends a close frame after the written frames, and ends the connection; aborts it if the client stalls. */
  private close(code: number): void {
    if (this.closed || this.closing !== undefined) return;
    this.write(closeFrame(code));
    this.closing = this.clock.setTimer(() => this.destroy(), stallMs);
    this.exchange.guard.run("close", () => this.body.end(), this);
  }
}
