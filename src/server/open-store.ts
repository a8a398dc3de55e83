import { StoreStampError } from "../storage/stamp.ts";
import type { SharedValues } from "../storage/shared-values.ts";
import type { Store } from "../storage/store.ts";
import { stampError, stampOf } from "./store-stamp.ts";
import type { ServerOptions } from "./options.ts";

/** A store, and what comes with it. */
export interface OpenStore {
  readonly store: Store;
  /** What the servers over the store share; undefined where they share the data folder, or nothing. */
  readonly shared: SharedValues | undefined;
}

/**
 * Opens the engine that the options name; only its code is loaded.
 *
 * @throws {OptionsError} the store belongs to another vocabulary, or to a later version of the program.
 * @throws {StoreError} the store can't be opened.
 */
export async function openStore(options: ServerOptions): Promise<OpenStore> {
  try {
    return await openEngine(options);
  } catch (error) {
    throw error instanceof StoreStampError ? stampError(error, options.storage) : error;
  }
}

async function openEngine({
  storage,
  clock,
  retentionMs,
  log,
  vocabulary,
}: ServerOptions): Promise<OpenStore> {
  const failed = (error: unknown) =>
    log.warn({ error: String(error) }, "background work of the store failed and will be tried again");
  const common = { clock, retentionMs, failed, stamp: stampOf(vocabulary) };
  switch (storage.engine) {
    case "memory": {
      const { createMemoryStore } = await import("../storage/memory/memory-store.ts");
      return { store: createMemoryStore(common), shared: undefined };
    }
    case "embedded": {
      const { openLmdbStore } = await import("../storage/lmdb/lmdb-store.ts");
      return { store: openLmdbStore({ ...common, dir: storage.dir }), shared: undefined };
    }
    case "etcd": {
      const { connectEtcdStore } = await import("../storage/etcd/etcd-store.ts");
      const { engine: _engine, ...connection } = storage;
      const store = await connectEtcdStore({ ...connection, ...common });
      return { store, shared: store.shared };
    }
  }
}
