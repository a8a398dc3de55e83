import type { Store } from "../storage/store.ts";
import type { ServerOptions } from "./options.ts";

/** Opens the engine that the options name; only its code is loaded. */
export async function openStore({ storage, clock, retentionMs, log }: ServerOptions): Promise<Store> {
  const failed = (error: unknown) =>
    log.warn({ error: String(error) }, "background work of the store failed and will be tried again");
  switch (storage.engine) {
    case "memory": {
      const { createMemoryStore } = await import("../storage/memory/memory-store.ts");
      return createMemoryStore({ clock, retentionMs, failed });
    }
    case "embedded": {
      const { openLmdbStore } = await import("../storage/lmdb/lmdb-store.ts");
      return openLmdbStore({ dir: storage.dir, clock, retentionMs, failed });
    }
    case "etcd": {
      const { connectEtcdStore } = await import("../storage/etcd/etcd-store.ts");
      const { engine: _engine, ...connection } = storage;
      return connectEtcdStore({ ...connection, clock, retentionMs, failed });
    }
  }
}
