import { open } from "lmdb";
import { stateIn } from "../../src/storage/lmdb/stored-state.ts";
import { checksumAt, decodeLogRecord } from "../../src/storage/lmdb/layout.ts";

/** Where the form of a record is; its upper half is 0 in format 1. */
const formAt = 16;

/** Changes the bytes of a value; undefined leaves it as it is. */
export type Rewrite = (value: Buffer, key: Buffer) => Buffer | undefined;

/** Rewrites values of a closed store behind its back, by the names of their databases. */
export async function rewriteStore(dir: string, rewrites: Readonly<Record<string, Rewrite>>): Promise<void> {
  const root = open({ path: `${dir}/data.mdb`, noSubdir: true, maxDbs: 12, encoding: "binary" });
  try {
    for (const [name, rewrite] of Object.entries(rewrites)) {
      const database = root.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary" });
      const entries = [...database.getRange({ snapshot: false })].map(({ key, value }) => ({
        key: Buffer.from(key),
        value: Buffer.from(value),
      }));
      for (const { key, value } of entries) {
        const changed = rewrite(value, key);
        if (changed !== undefined) await database.put(key, changed);
      }
    }
  } finally {
    await root.close();
  }
}

function plainRecord(record: Buffer): Buffer {
  const plain = Buffer.from(record.subarray(0, checksumAt(record, record.length)));
  plain[formAt]! &= 0x0f;
  return plain;
}

/** Brings a closed store of format 2 to format 1, which has no checksums and ends the state at the number of the batch. */
export async function makeFormatOne(dir: string): Promise<void> {
  await rewriteStore(dir, {
    data: plainRecord,
    log(value) {
      const { recordAt } = decodeLogRecord(value);
      if (recordAt === value.length) return undefined;
      return Buffer.concat([value.subarray(0, recordAt), plainRecord(value.subarray(recordAt))]);
    },
    meta(value, key) {
      if (key.toString() !== "state") return undefined;
      stateIn(value);
      const state = Buffer.from(value.subarray(0, -4));
      state[0] = 1;
      return state;
    },
  });
}
