/** The limit of reads and reviews: sends prepared bytes that equal the product's. */
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { serveParent } from "../serve-parent.ts";
import { headersFor, listen, readJson, type Tls } from "./bare-server.ts";

export interface AnswersPlan {
  readonly tls: Tls;
  /** Files with the bodies; with several, the pages of a list by the token of the page before. */
  readonly files: readonly string[];
  readonly status: number;
}

const handlers = { open };
export type AnswersApi = typeof handlers;
serveParent(handlers);

function open({ tls, files, status }: AnswersPlan): Promise<number> {
  const bodies = files.map((file) => readFileSync(file));
  const [first] = bodies as [Buffer];
  const byToken = new Map<string, Buffer>();
  for (const [index, body] of bodies.entries()) {
    const token = /"continue":"([^"]+)"/.exec(
      body.toString("latin1", 0, 1024) + body.toString("latin1", body.length - 1024),
    );
    if (token !== null && index + 1 < bodies.length) byToken.set(token[1]!, bodies[index + 1]!);
  }
  const send = (response: ServerResponse, body: Buffer): void => {
    response.writeHead(status, headersFor(body));
    response.end(body);
  };
  return listen(tls, (request, response) => {
    if (request.method === "GET") {
      const url = request.url!;
      const token = bodies.length === 1 ? -1 : url.indexOf("&continue=");
      send(response, token === -1 ? first : byToken.get(url.slice(token + "&continue=".length))!);
    } else readJson(request, () => send(response, first));
  });
}
