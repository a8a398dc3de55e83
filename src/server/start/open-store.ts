import { StoreStampError } from "../../storage/stamp.ts";
import type { SharedValues } from "../../storage/shared-values.ts";
import { isStore } from "../../storage/guarded-store.ts";
import type { MemoryStore } from "../../storage/memory/memory-store.ts";
import { writePrepared } from "./prepared-objects.ts";
import type { Inherited } from "./opened.ts";
import type { Store } from "../../storage/store.ts";
import { stampError, stampOf } from "./store-stamp.ts";
import { databaseAddress } from "../options/database-address.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { StorageSettings } from "../options/settings-types.ts";
import { parseDuration } from "../../base/time/duration.ts";
import { StoredResources } from "./stored-resources.ts";
import { OptionsError } from "../options/options-error.ts";

/** A store and the values that its servers share. */
export interface OpenStore {
  readonly store: Store;
  /** Values that the servers of the store share; undefined if they share the data folder or nothing. */
  readonly shared: SharedValues | undefined;
  /** The store, if it is one in memory that the server opened. */
  readonly memory?: MemoryStore | undefined;
  /** Whether the store has the default objects, except those that depend on the server. */
  readonly hasDefaults: boolean;
}

/**
 * Opens the storage engine of the options; loads only its code. A store of the embedding program is used as it is.
 *
 * @param inherited the content of a store in memory; by default it is empty.
 * @throws {OptionsError} if the store belongs to another vocabulary or to a later version of the program.
 * @throws {StoreError} if the store can't be opened.
 */
export async function openStore(
  options: ServerOptions,
  extensionStore: Store | undefined,
  inherited?: Inherited,
): Promise<OpenStore> {
  const { storage } = options;
  const deferredSyncMs = deferredSyncMsOf(options, extensionStore !== undefined);
  if (extensionStore !== undefined) return { store: extensionStore, shared: undefined, hasDefaults: false };
  if (isStore(storage)) throw new Error("a store of the embedding program is not opened here");
  try {
    return await openEngine(options, storage, deferredSyncMs, inherited);
  } catch (error) {
    throw error instanceof StoreStampError ? stampError(error, storage) : error;
  }
}

async function openEngine(
  options: ServerOptions,
  storage: StorageSettings,
  deferredSyncMs: ReadonlyMap<string, number>,
  inherited: Inherited | undefined,
): Promise<OpenStore> {
  const { clock, retentionMs, log, vocabulary } = options;
  const failed = (error: unknown) =>
    log.warn({ error: String(error) }, "background work of the store failed; retrying");
  const common = { clock, retentionMs, deferredSyncMs, failed, stamp: stampOf(vocabulary) };
  switch (storage.engine) {
    case "memory": {
      const { createMemoryStore } = await import("../../storage/memory/memory-store.ts");
      const memory = createMemoryStore(common, inherited?.image);
      const deletedKeys = inherited?.deletedKeys ?? [];
      memory.commitAll(deletedKeys.map((key) => ({ key, draft: undefined })));
      const hasDefaults = inherited !== undefined || writePrepared(memory, options);
      return { store: memory, memory, shared: undefined, hasDefaults };
    }
    case "embedded": {
      const { openLmdbStore } = await import("../../storage/lmdb/lmdb-store.ts");
      const { committer } = options;
      const store = openLmdbStore({ ...common, dir: storage.dir, committer });
      return { store, shared: undefined, hasDefaults: false };
    }
    case "etcd": {
      const { connectEtcdStore } = await import("../../storage/etcd/etcd-store.ts");
      const { engine: _engine, ...connection } = storage;
      const warn = (message: string) => log.warn({ store: "etcd" }, message);
      const store = await connectEtcdStore({ ...connection, warn, ...common });
      return { store, shared: store.shared, hasDefaults: false };
    }
    case "postgres": {
      const { connectPostgresStore } = await import("../../storage/postgres/postgres-store.ts");
      const { schema } = storage;
      const warn = (message: string) => log.warn({ store: "postgres" }, message);
      const url = await databaseAddress(storage);
      const store = await connectPostgresStore({ url, schema, warn, ...common });
      return { store, shared: store.shared, hasDefaults: false };
    }
  }
}

const flag = "--durability";
const form = "RESOURCE[.GROUP]=interval:DURATION, for example leases=interval:1s";
const maxIntervalMs = 60 * 60_000;

/**
 * Returns the maximum time between a write and its sync in milliseconds, by the store prefix of the resource, for the resources of option
 * `durability`.
 *
 * @param hasOwnStore whether the embedding program brings the store.
 * @throws {OptionsError} if a rule is malformed, names a resource that isn't stored, or the store of the options has no such choice.
 */
function deferredSyncMsOf(options: ServerOptions, hasOwnStore: boolean): ReadonlyMap<string, number> {
  const { durability, storage, vocabulary, extensions } = options;
  const intervals = new Map<string, number>();
  if (durability.length === 0) return intervals;
  if (hasOwnStore || isStore(storage))
    throw new OptionsError(`${flag}: a store of the embedding program syncs its writes by itself`);
  if (storage.engine === "etcd" || storage.engine === "postgres")
    throw new OptionsError(
      `${flag}: ${storage.engine === "etcd" ? "etcd" : "PostgreSQL"} syncs its writes by itself; the option is for the embedded store`,
    );
  const resources = new StoredResources(flag, vocabulary, extensions?.kinds);
  for (const { prefix, value, rule } of resources.rules(durability, form))
    intervals.set(prefix, intervalOf(rule, value));
  return intervals;
}

function intervalOf(rule: string, value: string): number {
  const [kind, ...rest] = value.split(":");
  const nanoseconds = kind === "interval" ? parseDuration(rest.join(":")) : undefined;
  if (nanoseconds === undefined) throw new OptionsError(`${flag}: ${JSON.stringify(rule)} is not ${form}`);
  const intervalMs = Number(nanoseconds) / 1_000_000;
  if (intervalMs < 1 || intervalMs > maxIntervalMs)
    throw new OptionsError(`${flag}: the interval of ${JSON.stringify(rule)} is not from 1ms to 1h`);
  return intervalMs;
}
