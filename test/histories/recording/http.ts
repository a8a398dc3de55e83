import { Agent, request as httpsRequest } from "node:https";
import type { ClientRequest, IncomingMessage } from "node:http";

/** Where a server listens. */
export interface Endpoint {
  /** Name of the server in the history. */
  readonly name: string;
  readonly url: string;
  readonly ca: string;
}

/** A response with its body. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Connections of one user to one server. A request that isn't answered in time ends without a reply. */
export class Connection {
  private readonly agent: Agent;

  constructor(
    readonly endpoint: Endpoint,
    private readonly token: string,
    private readonly timeoutMs: number,
  ) {
    this.agent = new Agent({ keepAlive: true, ca: endpoint.ca });
  }

  /** Sends a request; undefined if no whole response arrives. */
  async send(method: string, path: string, body?: unknown, contentType?: string): Promise<Reply | undefined> {
    const request = this.request(method, path, body, contentType);
    const timer = setTimeout(() => request.destroy(), this.timeoutMs);
    try {
      const response = await responseTo(request);
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      return { status: response.statusCode!, text: Buffer.concat(chunks).toString("utf8") };
    } catch {
      // The server was killed, or is frozen.
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Reads a stream of lines.
   *
   * @param line receives each line, and the status of the response.
   * @returns a function that ends the stream, and a promise that resolves when it has ended.
   */
  stream(
    path: string,
    line: (text: string, status: number) => void,
  ): { close(): void; ended: Promise<void> } {
    const request = this.request("GET", path);
    const read = async () => {
      const response = await responseTo(request);
      response.setEncoding("utf8");
      let rest = "";
      for await (const chunk of response) {
        const lines = (rest + String(chunk)).split("\n");
        rest = lines.pop()!;
        for (const text of lines) if (text !== "") line(text, response.statusCode!);
      }
      // An answer other than a watch doesn't end with a line feed. A rest that is cut off is no whole frame.
      if (rest !== "" && response.statusCode !== 200) line(rest, response.statusCode!);
    };
    const ended = read().catch(() => {
      // The server or the client ended the stream.
    });
    return { close: () => request.destroy(), ended };
  }

  close(): void {
    this.agent.destroy();
  }

  private request(method: string, path: string, body?: unknown, contentType?: string): ClientRequest {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    if (payload !== undefined) {
      headers["content-type"] = contentType ?? "application/json";
      headers["content-length"] = String(Buffer.byteLength(payload));
    }
    const request = httpsRequest(`${this.endpoint.url}${path}`, { method, headers, agent: this.agent });
    request.end(payload);
    return request;
  }
}

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    // Stays registered: the connection may also fail after the response has begun.
    request.on("error", reject);
  });
}
