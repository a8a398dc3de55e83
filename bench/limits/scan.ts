/**
 * The limit of a selector list: reads every record of a collection of the same size from the bare engine for each
 * response.
 */
import { open as openLmdb } from "lmdb";
import { textKeys } from "../../src/storage/lmdb/codecs.ts";
import { serveParent } from "../serve-parent.ts";
import { headersFor, listen, type Tls } from "./bare-server.ts";

export interface ScanPlan {
  readonly tls: Tls;
  readonly dir: string;
  readonly objects: number;
  /** A stored object. */
  readonly sample: Buffer;
  /** The body of the response. */
  readonly answer: Buffer;
}

const handlers = { open };
export type ScanApi = typeof handlers;
serveParent(handlers);

async function open({ tls, dir, objects, sample, answer }: ScanPlan): Promise<number> {
  const form = { encoding: "binary" as const, keyEncoder: textKeys };
  const root = openLmdb<Buffer, string>({ path: dir, noSubdir: false, mapSize: 256 * 2 ** 30, ...form });
  await root.transaction(() => {
    for (let index = 0; index < objects; index++) root.putSync(`/records/${index}`, Buffer.from(sample));
  });
  let matches = 0;
  return listen(tls, (_request, response) => {
    for (const { value } of root.getRange({ start: "/records/" })) {
      // A byte of each record is read, so that its page is loaded.
      if (value[value.length - 1] === 0) matches++;
    }
    response.writeHead(matches === 0 ? 200 : 500, headersFor(answer));
    response.end(answer);
  });
}
