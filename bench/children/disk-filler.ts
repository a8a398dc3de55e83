/** Writes objects through the library and measures the disk space, in a process of its own. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/time/clock.ts";
import { createServer } from "../../src/index.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { shrinkLmdb } from "../../src/storage/lmdb/shrink.ts";
import { configMap, objectName } from "../objects.ts";
import { serveParent } from "../serve-parent.ts";

export interface DiskPlan {
  /** The store's own folder. */
  readonly dir: string;
  readonly objects: number;
  readonly objectBytes: number;
}

/** Disk space of a store, in bytes per byte of the objects as clients send them. */
export interface DiskFigures {
  readonly created: number;
  /** After the same number of updates of random objects; old values are kept as history. */
  readonly updated: number;
  /** After compaction of history: the used part of the file, which doesn't shrink. */
  readonly withoutHistory: number;
  /** Size of the file after `plinth compact`. */
  readonly compacted: number;
}

/** Concurrent writes. */
const together = 64;
const namespace = "bench";

const handlers = { measure };
export type DiskFillerApi = typeof handlers;
serveParent(handlers);

async function measure({ dir, objects, objectBytes }: DiskPlan): Promise<DiskFigures> {
  // Long retention, so that only compact() drops history.
  const store = openLmdbStore({ dir, clock: systemClock, retentionMs: 24 * 3600 * 1000 });
  const server = await createServer({ storage: store, port: false });
  const { client } = server;
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const object = (index: number) => configMap(namespace, objectName(index), objectBytes);
  const bytes = objects * JSON.stringify(object(0)).length;
  const each = async (write: (index: number) => Promise<unknown>) => {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < objects) await write(next++);
    };
    await Promise.all(Array.from({ length: together }, work));
  };
  const shareOf = (read: (usage: { totalBytes: number; freeBytes: number }) => number) =>
    read(store.usage()) / bytes;
  await each((index) => client.create(object(index)));
  const created = shareOf(({ totalBytes }) => totalBytes);
  await each((index) => {
    const labels = { changed: String(index) };
    const changed = object(Math.floor(Math.random() * objects));
    return client.update({ ...changed, metadata: { ...changed.metadata, labels } });
  });
  const updated = shareOf(({ totalBytes }) => totalBytes);
  await store.compact(systemClock.now() + 1000);
  const withoutHistory = shareOf(({ totalBytes, freeBytes }) => totalBytes - freeBytes);
  await server.close();
  await store.close();
  await shrinkLmdb(dir, systemClock.now());
  return { created, updated, withoutHistory, compacted: statSync(join(dir, "data.mdb")).size / bytes };
}
