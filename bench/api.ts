/** A plain client for preparing a server; measured requests go through the load generator. */
import { Agent, request as httpsRequest } from "node:https";
import type { Address } from "./load/plan.ts";

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** Maximum number of concurrent requests while objects are prepared. */
const together = 32;

export class Api {
  private readonly agent: Agent;

  constructor(
    private readonly address: Address,
    private readonly token: string,
  ) {
    const { ca } = address;
    const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
    this.agent = new Agent({ keepAlive: true, maxSockets: together, ...trust });
  }

  /** @throws {Error} with the response, if it isn't a success. */
  async ask(
    method: string,
    path: string,
    body?: object | string,
    accept?: string,
    contentType?: string,
  ): Promise<Buffer> {
    const answer = await this.try(method, path, body, accept, contentType);
    if (answer.status >= 200 && answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString("utf8", 0, 2000)}`);
  }

  try(
    method: string,
    path: string,
    body?: object | string,
    accept?: string,
    contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json",
  ): Promise<Answer> {
    const { host, port } = this.address;
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    if (accept !== undefined) headers["accept"] = accept;
    if (text !== undefined) {
      headers["content-type"] = contentType;
      headers["content-length"] = String(Buffer.byteLength(text));
    }
    return new Promise((resolve, reject) => {
      const request = httpsRequest({ host, port, method, path, headers, agent: this.agent }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.once("error", reject);
        response.once("end", () => resolve({ status: response.statusCode!, body: Buffer.concat(parts) }));
      });
      request.once("error", reject);
      request.end(text);
    });
  }

  /** Creates many objects; existing ones are kept. */
  createAll(count: number, make: (index: number) => { path: string; object: object }): Promise<void> {
    return this.each(count, async (index) => {
      const { path, object } = make(index);
      const { status, body } = await this.try("POST", path, object);
      if (status !== 201 && status !== 409) throw new Error(`POST ${path}: ${status} ${body.toString()}`);
    });
  }

  /** Calls a function for each number below `count`, some of them concurrently. */
  async each(count: number, act: (index: number) => Promise<unknown>): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < count) await act(next++);
    };
    await Promise.all(Array.from({ length: together }, work));
  }

  close(): void {
    this.agent.destroy();
  }
}
