/** The embedded engine, bare: in batches like the product's, each with one sync. */
import { open, type Database, type RootDatabase } from "lmdb";
import { textKeys } from "../../src/storage/lmdb/codecs.ts";

export type Root = RootDatabase<Buffer, string>;
export type Data = Database<Buffer, string>;

/** As in src/storage/lmdb/writer.ts. */
export const batchWrites = 256;
const batchesUnderWay = 2;

const form = { encoding: "binary" as const, keyEncoder: textKeys };

export function openEngine(dir: string): Root {
  return open<Buffer, string>({
    path: dir,
    noSubdir: false,
    overlappingSync: false,
    mapSize: 256 * 2 ** 30,
    maxDbs: 8,
    maxReaders: 512,
    ...form,
  });
}

export function openData(root: Root, name: string): Data {
  return root.openDB({ name, ...form });
}

/**
 * Takes what is to be written into batches.
 *
 * @param write puts a batch, inside its transaction.
 * @param written told when it is on the disk.
 * @returns hands one in.
 */
export function inBatches<W>(
  root: Root,
  write: (batch: readonly W[]) => void,
  written: (batch: readonly W[]) => void,
): (one: W) => void {
  const queue: W[] = [];
  let underWay = 0;
  let opening = false;
  const runBatch = async (): Promise<void> => {
    if (opening || underWay >= batchesUnderWay || queue.length === 0) return;
    underWay++;
    opening = true;
    let taken: W[] = [];
    await root.transaction(() => {
      opening = false;
      taken = queue.splice(0, batchWrites);
      write(taken);
    });
    written(taken);
    underWay--;
    void runBatch();
  };
  return (one) => {
    queue.push(one);
    void runBatch();
  };
}
