/**
 * The limit of writes and watches: parses the body, commits as many bytes as the product stores (one record a write),
 * in batches like the embedded engine's and with its sync, answers as many bytes, and gives each watcher the same frame.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { open as openLmdb } from "lmdb";
import { textKeys } from "../../src/storage/lmdb/codecs.ts";
import { serveParent } from "../serve-parent.ts";
import { headersFor, listen, readJson, type Tls } from "./bare-server.ts";

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

/** As in src/storage/lmdb/writer.ts. */
const batchWrites = 256;
const batchesUnderWay = 2;

const handlers = { open };
export type CommitsApi = typeof handlers;
serveParent(handlers);

function open({ tls, dir, sample, oneIn }: CommitsPlan): Promise<number> {
  const form = { encoding: "binary" as const, keyEncoder: textKeys };
  const root = openLmdb<Buffer, string>({
    path: dir,
    noSubdir: false,
    overlappingSync: false,
    mapSize: 256 * 2 ** 30,
    maxDbs: 8,
    maxReaders: 512,
    ...form,
  });
  const data = root.openDB({ name: "data", ...form });
  const watchers = new Set<ServerResponse>();
  const frame = Buffer.concat([Buffer.from('{"type":"MODIFIED","object":'), sample, Buffer.from("}\n")]);
  const headers = headersFor(sample);
  const queue: Waiting[] = [];
  let underWay = 0;

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

  const runBatch = async (): Promise<void> => {
    if (underWay >= batchesUnderWay || queue.length === 0) return;
    underWay++;
    let taken: Waiting[] = [];
    await root.transaction(() => {
      taken = queue.splice(0, batchWrites);
      for (const { key } of taken) data.putSync(key, Buffer.from(sample));
    });
    if (watchers.size > 0) tell(taken.length);
    for (const { response } of taken) {
      response.writeHead(200, headers);
      response.end(sample);
    }
    underWay--;
    void runBatch();
  };

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
      queue.push({ key: name ?? request.url!, response });
      void runBatch();
    });
  });
}
