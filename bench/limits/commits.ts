/**
 * The limit of writes and watches: parses the body, commits the same number of bytes as the product (one record per
 * write) in synced batches like those of the embedded engine, responds with the same number of bytes, and sends each
 * watcher the same frame.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { serveParent } from "../serve-parent.ts";
import { headersFor, listen, readJson, type Tls } from "./bare-server.ts";
import { inBatches, openData, openEngine } from "./batches.ts";

export interface CommitsPlan {
  readonly tls: Tls;
  readonly dir: string;
  /** The product's response, which is also the stored record. */
  readonly sample: Buffer;
  /** A write's frame is sent to one of this many watchers. */
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
  let sentFrames = 0;
  const notifyWatchers = (writes: number): void => {
    if (oneIn === 1) {
      const frames = Buffer.concat(Array.from({ length: writes }, () => frame));
      for (const watcher of watchers) watcher.write(frames);
      return;
    }
    const all = [...watchers];
    for (let write = 0; write < writes; write++) {
      for (let index = sentFrames++ % oneIn; index < all.length; index += oneIn) all[index]!.write(frame);
    }
  };

  const commit = inBatches<Waiting>(
    root,
    (batch) => {
      for (const { key } of batch) data.putSync(key, Buffer.from(sample));
    },
    (batch) => {
      if (watchers.size > 0) notifyWatchers(batch.length);
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
