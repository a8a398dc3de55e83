/** The limit of a search: reads every record of as large a collection from the bare engine, for each answer. */
import { open as openLmdb } from "lmdb";
import { textKeys } from "../../src/storage/lmdb/codecs.ts";
import { serveParent } from "../serve-parent.ts";
import { headersFor, listen, type Tls } from "./bare-server.ts";

export interface ScanPlan {
  readonly tls: Tls;
  readonly dir: string;
  readonly objects: number;
  /** One object as it is stored. */
  readonly sample: Buffer;
  /** What is answered. */
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
  let found = 0;
  return listen(tls, (_request, response) => {
    for (const { value } of root.getRange({ start: "/records/" })) {
      // Each record is looked at, so that its page is read.
      if (value[value.length - 1] === 0) found++;
    }
    response.writeHead(found === 0 ? 200 : 500, headersFor(answer));
    response.end(answer);
  });
}
