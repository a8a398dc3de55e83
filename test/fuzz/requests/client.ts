import { Agent, request as httpsRequest } from "node:https";
import { METHODS, type IncomingMessage } from "node:http";
import { connect } from "node:tls";
import type { FuzzRequest } from "./request.ts";

/** The response to a request; undefined members if the connection ended before them. */
export interface FuzzResponse {
  readonly status: number | undefined;
  readonly contentType: string;
  readonly body: Buffer;
}

/** Longest wait for a response, in milliseconds; the machine may be busy. */
const maxWaitMs = 30_000;

/** Sends requests to one server as their manner says. */
export class FuzzClient {
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    private readonly ca: string,
  ) {
    this.agent = new Agent({ keepAlive: true, ca, maxSockets: 8 });
  }

  close(): void {
    this.agent.destroy();
  }

  /** @throws {Error} if there is no response in time, or the connection fails without a reason in the request. */
  send(request: FuzzRequest): Promise<FuzzResponse> {
    return request.manner === "pipeline" ? this.pipeline(request) : this.exchange(request);
  }

  private exchange({ token, method, path, headers, body, manner }: FuzzRequest): Promise<FuzzResponse> {
    return new Promise((resolve, reject) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const sent = httpsRequest(this.url, {
        method,
        path,
        agent: this.agent,
        headers: { ...headers, ...authorization, ...(body && { "content-length": body.length }) },
      });
      const aborted = { status: undefined, contentType: "", body: Buffer.alloc(0) };
      const late = setTimeout(() => {
        sent.destroy();
        reject(new Error(`no response in ${maxWaitMs} ms`));
      }, maxWaitMs);
      const finish = (response: FuzzResponse): void => {
        clearTimeout(late);
        resolve(response);
      };
      sent.once("error", (error) => {
        if (manner === "abort" || !isWellFormed(method, path)) return finish(aborted);
        clearTimeout(late);
        reject(error);
      });
      sent.once(
        "response",
        (response) => void collect(response, manner === "watch").then(finish, () => finish(aborted)),
      );
      sent.once("upgrade", (response, socket) => {
        socket.destroy();
        finish({ ...aborted, status: response.statusCode });
      });
      sent.end(body);
      if (manner === "abort") setTimeout(() => sent.destroy(), (body?.length ?? path.length) % 7);
    });
  }

  /** Sends the request three times at once on a connection of its own, and closes it after the first response. */
  private pipeline({ token, method, path, headers, body }: FuzzRequest): Promise<FuzzResponse> {
    const { hostname, port } = new URL(this.url);
    const lines = [`${method} ${path.replaceAll(/[^!-~]/g, "%20")} HTTP/1.1`, `host: ${hostname}`];
    if (token !== undefined) lines.push(`authorization: Bearer ${token}`);
    for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    if (body !== undefined) lines.push(`content-length: ${body.length}`);
    const message = Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body ?? Buffer.alloc(0)]);
    return new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), ca: this.ca });
      const finish = (status: number | undefined): void => {
        socket.destroy();
        resolve({ status, contentType: "", body: Buffer.alloc(0) });
      };
      socket.setTimeout(maxWaitMs, () => finish(undefined));
      socket.once("error", () => finish(undefined));
      socket.once("close", () => finish(undefined));
      socket.once("data", (chunk) => {
        const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString("latin1"))?.[1];
        finish(status === undefined ? undefined : Number(status));
      });
      socket.write(Buffer.concat([message, message, message]));
    });
  }
}

/** Whether the server can parse the request line. Otherwise it may close the connection. */
function isWellFormed(method: string, path: string): boolean {
  return METHODS.includes(method) && /^[!-~]*$/.test(path);
}

/** Time after which a watch is disconnected, in milliseconds. */
const watchMs = 20;

async function collect(response: IncomingMessage, isWatch: boolean): Promise<FuzzResponse> {
  const chunks: Buffer[] = [];
  const end = isWatch ? setTimeout(() => response.destroy(), watchMs) : undefined;
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    // A disconnected watch has been read as far as it was meant to be.
    if (!isWatch) throw error;
  } finally {
    clearTimeout(end);
  }
  const contentType = response.headers["content-type"] ?? "";
  const isPacked = response.headers["content-encoding"] !== undefined;
  return {
    status: response.statusCode,
    contentType: isPacked ? "" : contentType,
    body: Buffer.concat(chunks),
  };
}
