/**
 * The embedded engine's writes beside bare LMDB, one record a write in batches of the same form, without a server:
 * `npx tsx bench/storage-limit.bench.ts`. Bytes written are what Linux counts for the process.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { systemClock } from "../src/base/time/clock.ts";
import { textKeys } from "../src/storage/lmdb/codecs.ts";
import { openLmdbStore } from "../src/storage/lmdb/lmdb-store.ts";
import type { Revision } from "../src/storage/store.ts";

const writes = 20_000;
const objects = 1024;
const crowds = [16, 64];
const body = Buffer.alloc(1024, "b");
const draft = { header: Buffer.alloc(60, "h"), body, revisionAt: 20 };
const keyOf = (index: number): string => `/g/configmaps/bench/object-${String(index).padStart(9, "0")}`;

/** Writes a value under a key. */
type Put = (key: string) => Promise<void>;

function bytesWritten(): number {
  if (!existsSync("/proc/self/io")) return Number.NaN;
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))![1]);
}

async function measure(
  what: string,
  writers: number,
  key: (index: number) => string,
  put: Put,
): Promise<void> {
  let next = 0;
  const bytes = bytesWritten();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const work = async (): Promise<void> => {
    while (next < writes) await put(key(next++));
  };
  await Promise.all(Array.from({ length: writers }, work));
  const rate = (writes / (performance.now() - start)) * 1000;
  const { user, system } = process.cpuUsage(cpu);
  const facts = [
    `${rate.toFixed(0)}/s`,
    `${((user + system) / writes).toFixed(0)} µs of processor`,
    `${((bytesWritten() - bytes) / writes).toFixed(0)} bytes written`,
  ];
  console.log(`${what}, ${writers} writers`.padEnd(30), facts.map((fact) => fact.padEnd(22)).join(""));
}

function barePut(dir: string): { put: Put; close(): Promise<void> } {
  const form = { encoding: "binary" as const, keyEncoder: textKeys };
  const root = open<Buffer, string>({
    path: dir,
    noSubdir: false,
    overlappingSync: false,
    maxDbs: 8,
    ...form,
  });
  const data = root.openDB({ name: "data", ...form });
  let queue: { key: string; done: () => void }[] = [];
  let underWay = 0;
  const runBatch = async (): Promise<void> => {
    if (underWay >= 2 || queue.length === 0) return;
    underWay++;
    let taken: typeof queue = [];
    await root.transaction(() => {
      [taken, queue] = [queue, []];
      for (const { key } of taken) data.putSync(key, Buffer.from(body));
    });
    for (const { done } of taken) done();
    underWay--;
    void runBatch();
  };
  const put: Put = (key) =>
    new Promise((done) => {
      queue.push({ key, done });
      void runBatch();
    });
  return { put, close: () => root.close() };
}

const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), "plinth-bench-"))) as [string, string];
const bare = barePut(folders[0]);
const store = openLmdbStore({ dir: folders[1], clock: systemClock });
const revisions = new Map<string, Revision>();
const storePut: Put = async (key) => {
  const expected = revisions.get(key);
  const result = await store.commit(
    expected === undefined ? { kind: "create", key, draft } : { kind: "update", key, expected, draft },
  );
  if (!result.ok) throw new Error(`a conflict on ${key}`);
  revisions.set(key, result.revision);
};
try {
  for (const writers of crowds) {
    const fresh = (index: number): string => keyOf(writers * 1_000_000 + index);
    await measure("bare create", writers, fresh, bare.put);
    await measure("store create", writers, fresh, storePut);
  }
  for (let index = 0; index < objects; index++) await storePut(keyOf(index));
  for (const writers of crowds) {
    const again = (index: number): string => keyOf(index % objects);
    await measure("bare update", writers, again, bare.put);
    await measure("store update", writers, again, storePut);
  }
} finally {
  await bare.close();
  await store.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
}
