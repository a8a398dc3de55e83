import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { expect } from "vitest";
import type { TestServer } from "../support/api.ts";

/** A connection on which a test writes raw bytes. */
export class RawConnection {
  private text = "";
  private readonly waiting: (() => void)[] = [];
  closed = false;

  private constructor(readonly socket: TLSSocket) {
    socket.on("data", (chunk: Buffer) => {
      this.text += chunk.toString("latin1");
      this.wake();
    });
    socket.on("error", () => this.wake());
    socket.on("close", () => {
      this.closed = true;
      this.wake();
    });
  }

  static open(port: number, protocols: readonly string[] = ["http/1.1"]): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connectTls({
        port,
        host: "127.0.0.1",
        rejectUnauthorized: false,
        ALPNProtocols: [...protocols],
      });
      socket.once("error", reject);
      socket.once("secureConnect", () => {
        socket.off("error", reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  write(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  /** Resolves with the received text once it matches. */
  async receives(pattern: RegExp): Promise<string> {
    await this.until(() => pattern.test(this.text), String(pattern));
    return this.text;
  }

  /** Resolves with the received text when the server has closed the connection. */
  async closes(): Promise<string> {
    while (!this.closed) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return this.text;
  }

  destroy(): void {
    this.socket.destroy();
  }

  private async until(condition: () => boolean, what: string): Promise<void> {
    while (!condition()) {
      if (this.closed) throw new Error(`closed before ${what}; received ${JSON.stringify(this.text)}`);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

export const portOf = (server: TestServer): number => Number(new URL(server.server.url!).port);

/** The head of a request by the administrator. */
export const head = (server: TestServer, line: string, ...headers: string[]): string =>
  [
    `${line} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${server.server.adminToken}`,
    ...headers,
    "",
    "",
  ].join("\r\n");

export function http2Session(server: TestServer): ClientHttp2Session {
  const session = connectHttp2(server.server.url!, { ca: server.server.caCertificate! });
  session.on("error", () => undefined);
  return session;
}

export interface Http2Answer {
  readonly status: number;
  readonly text: string;
  readonly code: number;
}

/** Resolves with the response of a stream when it is closed. */
export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve) => {
    let status = 0;
    const chunks: Buffer[] = [];
    stream.on("response", (headers) => (status = Number(headers[":status"])));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", () => undefined);
    stream.on("close", () =>
      resolve({ status, text: Buffer.concat(chunks).toString(), code: stream.rstCode }),
    );
  });
}

/** Expects that the server still responds quickly. */
export async function stillAnswers(server: TestServer): Promise<void> {
  const start = performance.now();
  const { status } = await server.admin.get("/api/v1/namespaces/default");
  expect(status).toBe(200);
  expect(performance.now() - start).toBeLessThan(10_000);
}

/** The resourceVersion of the whole store. */
export const storeVersion = async (server: TestServer): Promise<string> =>
  (await server.admin.get("/api/v1/namespaces")).body.metadata.resourceVersion;
