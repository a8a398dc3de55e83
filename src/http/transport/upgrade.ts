import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Connection } from "./connection.ts";
import type { HeaderLines } from "./header-lines.ts";
import type { UpgradeOffer } from "./http-exchange.ts";
import { hasBody, Http1Exchange, originForm } from "./http1.ts";
import type { ListenerContext } from "./listener-context.ts";

/** Whether a request with this method and URL may upgrade its connection to a protocol. */
export type UpgradeRule = (method: string, url: string, protocol: string) => boolean;

/**
 * Returns the request class of an HTTP/1.1 server whose `upgrade` member tells Node whether the connection is
 * upgraded after the request's head. It is true only for a request that the rule allows and that has no body; others
 * are served without upgrade.
 */
export function messagesThatMayUpgrade(mayUpgrade: UpgradeRule): typeof IncomingMessage {
  class Message extends IncomingMessage {
    // No field initialisers: the base class's constructor already assigns `upgrade`.
    declare requestedUpgrade: boolean | null;
    declare judged: boolean | undefined;

    /** Set by Node's parser from the request headers. */
    set upgrade(requestedUpgrade: boolean | null) {
      this.requestedUpgrade = requestedUpgrade;
    }

    get upgrade(): boolean {
      if (this.requestedUpgrade !== true) return false;
      const { method, url, headers } = this;
      this.judged ??=
        method === "CONNECT" ||
        (!hasBody(this) && mayUpgrade(method!, originForm(url!), headers.upgrade ?? ""));
      return this.judged;
    }
  }
  return Message;
}

/**
 * Creates the exchange of a request with an upgrade, whose socket Node no longer handles. Closes the socket and returns undefined if an
 * earlier request on it isn't answered yet.
 */
export function upgradeExchange(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  connection: Connection,
  context: ListenerContext,
): Http1Exchange | undefined {
  const { guard } = context;
  guard.on(socket, "error", () => socket.destroy(), socket);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  try {
    response.assignSocket(socket);
  } catch {
    // An earlier request on the connection isn't answered yet: pipelined requests can't be upgraded.
    socket.destroy();
    return undefined;
  }
  guard.once(response, "finish", () => socket.destroySoon(), socket);
  return new UpgradeExchange(request, response, connection, context, socket, head);
}

/** An HTTP/1.1 exchange that can switch to another protocol. If it ends with a normal response, the connection is closed. */
class UpgradeExchange extends Http1Exchange {
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    context: ListenerContext,
    private readonly socket: Socket,
    private readonly head: Buffer,
  ) {
    super(request, response, connection, context);
  }

  override get upgrade(): UpgradeOffer {
    return {
      protocol: this.header("upgrade") ?? "",
      accept: (headers) => this.accept(headers),
      stream: (headers) => {
        const socket = this.accept(headers);
        return { socket, body: this.bodyOver(socket) };
      },
    };
  }

  override get reader(): undefined {
    return undefined;
  }

  override onClose(listener: () => void): void {
    if (this.socket.destroyed) queueMicrotask(listener);
    else this.guard.once(this.socket, "close", listener, this.socket);
  }

  private accept(headers: HeaderLines): Socket {
    const { socket, head } = this;
    this.onAnswer?.(101);
    this.response.detachSocket(socket);
    this.context.slowReaders.streamsTo(socket);
    this.answered = true;
    this.status = 101;
    const lines = ["HTTP/1.1 101 Switching Protocols"];
    const all = this.linesOf(headers);
    for (let at = 0; at < all.length; at += 2) lines.push(`${all[at]}: ${all[at + 1]}`);
    socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
    if (head.length > 0) socket.unshift(head);
    return socket;
  }
}
