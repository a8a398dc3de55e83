/** Times of the embedded engine's hot paths: `npx tsx bench/storage.bench.ts`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/base/time/clock.ts";
import { openLmdbStore } from "../src/storage/lmdb/lmdb-store.ts";
import type { Draft, Revision } from "../src/storage/store.ts";

const OBJECTS = 10_000;
const dir = mkdtempSync(join(tmpdir(), "plinth-bench-"));
const store = openLmdbStore({ dir, clock: systemClock });
const draft: Draft = { header: Buffer.alloc(60, "h"), body: Buffer.alloc(1024, "b"), revisionAt: 20 };
const keyOf = (i: number): string => `/apps/deployments/default/object-${String(i).padStart(6, "0")}`;

function report(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(52)} ${value.toFixed(2).padStart(10)} ${unit}`);
}

/** The best of several rounds, in microseconds a call. */
async function time(what: string, calls: number, run: (i: number) => unknown): Promise<void> {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    for (let i = 0; i < calls; i++) run(i);
    best = Math.min(best, ((performance.now() - start) * 1000) / calls);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  report(what, best, "µs");
}

async function writeAll(from: number, count: number, writers: number): Promise<number> {
  const start = performance.now();
  let next = from;
  const writer = async (): Promise<void> => {
    while (next < from + count) await store.commit({ kind: "create", key: keyOf(next++), draft });
  };
  await Promise.all(Array.from({ length: writers }, writer));
  return (count / (performance.now() - start)) * 1000;
}

try {
  report("durable creates, 1 writer", await writeAll(100_000, 200, 1), "/s");
  report("durable creates, 16 writers", await writeAll(200_000, 2000, 16), "/s");
  report("durable creates, 256 writers", await writeAll(0, OBJECTS, 256), "/s");
  await time("latestRevision", 10_000, () => store.latestRevision());
  await time("get, 1 KB", 10_000, (i) => store.get(keyOf(i % OBJECTS)));
  await time(`range of all (12,200 x 1 KB)`, 1, () => store.range({ prefix: "/apps/deployments/" }));
  await time(`range of 10,000 x 1 KB, in pages of 500`, 1, () => {
    let after: string | undefined;
    let at: Revision | undefined;
    for (let i = 0; i < 20; i++) {
      const page = store.range({ prefix: "/apps/deployments/", limit: 500, after, at });
      if (page instanceof Promise) return;
      after = page.entries.at(-1)?.key;
      at = page.revision;
    }
  });
  const before = (await store.latestRevision()) as Revision;
  await writeAll(300_000, 50, 1);
  await time("range of all at an older revision", 1, () =>
    store.range({ prefix: "/apps/deployments/", at: before }),
  );
  let heard = 0;
  const listener = { events: (batch: readonly unknown[]) => void (heard += batch.length), ended() {} };
  for (let i = 0; i < 5000; i++) store.subscribe({ prefix: `/g/r${i}/`, after: before }, listener);
  for (let i = 0; i < 500; i++) store.subscribe({ prefix: "/apps/deployments/", after: before }, listener);
  report("the same with 500 watchers and 5,000 elsewhere", await writeAll(400_000, OBJECTS, 256), "/s");
  report("events heard", heard, "");
  global.gc?.();
  report("heap in use", process.memoryUsage().heapUsed / 2 ** 20, "MiB");
} finally {
  await store.close();
  rmSync(dir, { recursive: true });
}
