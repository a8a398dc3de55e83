/**
 * The limit of writes and watches: parses the body, commits as many bytes as the product stores (one record a write),
 * in batches like the embedded engine's and with its sync, answers as many bytes, and gives each watcher the same frame.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { serveParent } from "../serve-parent.ts";
import { headersFor, listen, readJson, type Tls } from "./bare-server.ts";
import { inBatches, openData, openEngine } from "./batches.ts";

export interface CommitsPlan {
  readonly tls: Tls;
  readonly dir: string;
  /** The product's answer, which is also what is stored. */
  readonly sample: Buffer;
  /** Each write's frame goes to one watcher in so many. */
  readonly oneIn: number;
}

interface Waiting {
  readonly key: string;
  readonly response: ServerResponse;
}

const handlers = { open };
export type CommitsApi = typeof handlers;
serveParent(handlers);

function open({ tls, dir, sample, oneIn }: CommitsPlan): Promise<number> {
  const root = openEngine(dir);
  const data = openData(root, "data");
  const watchers = new Set<ServerResponse>();
  const frame = Buffer.concat([Buffer.from('{"type":"MODIFIED","object":'), sample, Buffer.from("}\n")]);
  const headers = headersFor(sample);
  let told = 0;
  const tell = (writes: number): void => {
    if (oneIn === 1) {
      const frames = Buffer.concat(Array.from({ length: writes }, () => frame));
      for (const watcher of watchers) watcher.write(frames);
      return;
    }
    const all = [...watchers];
    for (let write = 0; write < writes; write++) {
      for (let index = told++ % oneIn; index < all.length; index += oneIn) all[index]!.write(frame);
    }
  };

  const commit = inBatches<Waiting>(
    root,
    (batch) => {
      for (const { key } of batch) data.putSync(key, Buffer.from(sample));
    },
    (batch) => {
      if (watchers.size > 0) tell(batch.length);
      for (const { response } of batch) {
        response.writeHead(200, headers);
        response.end(sample);
      }
    },
  );

  const watch = (request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, ["Content-Type", "application/json"]);
    response.flushHeaders();
    watchers.add(response);
    request.once("close", () => watchers.delete(response));
    response.once("close", () => watchers.delete(response));
  };

  return listen(tls, (request, response) => {
    if (request.method === "GET") {
      watch(request, response);
      return;
    }
    readJson(request, (value) => {
      const { name } = (value as { metadata?: { name?: string } }).metadata ?? {};
      commit({ key: name ?? request.url!, response });
    });
  });
}
