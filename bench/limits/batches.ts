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
 * Collects writes into batches.
 *
 * @param write writes a batch inside its transaction.
 * @param written called when the batch is on the disk.
 * @returns a function that adds a write.
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
    let current: W[] = [];
    await root.transaction(() => {
      opening = false;
      current = queue.splice(0, batchWrites);
      write(current);
    });
    written(current);
    underWay--;
    void runBatch();
  };
  return (one) => {
    queue.push(one);
    void runBatch();
  };
}
