import { StoreStampError } from "../../storage/stamp.ts";
import type { SharedValues } from "../../storage/shared-values.ts";
import { isStore } from "../../storage/guarded-store.ts";
import type { Store } from "../../storage/store.ts";
import { stampError, stampOf } from "./store-stamp.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { StorageSettings } from "../options/types.ts";

/** A store, and what comes with it. */
export interface OpenStore {
  readonly store: Store;
  /** What the servers over the store share; undefined where they share the data folder, or nothing. */
  readonly shared: SharedValues | undefined;
}

/**
 * Opens the engine that the options name; only its code is loaded. A store that was given is taken as it is.
 *
 * @throws {OptionsError} the store belongs to another vocabulary, or to a later version of the program.
 * @throws {StoreError} the store can't be opened.
 */
export async function openStore(options: ServerOptions, given: Store | undefined): Promise<OpenStore> {
  const { storage } = options;
  if (given !== undefined) return { store: given, shared: undefined };
  if (isStore(storage)) throw new Error("a store that was given is opened by nobody");
  try {
    return await openEngine(options, storage);
  } catch (error) {
    throw error instanceof StoreStampError ? stampError(error, storage) : error;
  }
}

async function openEngine(
  { clock, retentionMs, log, vocabulary }: ServerOptions,
  storage: StorageSettings,
): Promise<OpenStore> {
  const failed = (error: unknown) =>
    log.warn({ error: String(error) }, "background work of the store failed and will be tried again");
  const common = { clock, retentionMs, failed, stamp: stampOf(vocabulary) };
  switch (storage.engine) {
    case "memory": {
      const { createMemoryStore } = await import("../../storage/memory/memory-store.ts");
      return { store: createMemoryStore(common), shared: undefined };
    }
    case "embedded": {
      const { openLmdbStore } = await import("../../storage/lmdb/lmdb-store.ts");
      return { store: openLmdbStore({ ...common, dir: storage.dir }), shared: undefined };
    }
    case "etcd": {
      const { connectEtcdStore } = await import("../../storage/etcd/etcd-store.ts");
      const { engine: _engine, ...connection } = storage;
      const store = await connectEtcdStore({ ...connection, ...common });
      return { store, shared: store.shared };
    }
  }
}
