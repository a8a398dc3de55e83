import { StatusError } from "../../base/status-error.ts";
import type { Origin, Version } from "../../storage/store-history.ts";
import type { Engine } from "../engine/engine.ts";
import { storeFailure } from "../engine/resource-version.ts";
import { prefixOf, type Resource } from "../registry/registry.ts";

/** Which writes an undo takes back: those of a request or transaction, or those of a user or field manager in an interval. */
export interface ChangeSelection {
  /** Audit id of the request or transaction; undefined to select by the other members. */
  readonly change: string | undefined;
  /** Name of the user; any if undefined. */
  readonly user: string | undefined;
  /** Name of the field manager; any if undefined. */
  readonly manager: string | undefined;
  /** First and last time of the writes, in milliseconds since 1970; unlimited if undefined. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Only objects of this namespace; empty for all. */
  readonly namespace: string;
}

/** The writes of a change set to one object. */
export interface ChangedObject {
  readonly resource: Resource;
  readonly key: string;
  /** Newest first. */
  readonly versions: readonly Version[];
}

/** Maximum number of writes in a change set. */
const maxWrites = 50_000;
/** Versions that are read at a time. */
const versionsAtATime = 200;

/**
 * Finds the writes of a change set in the kept history of collections. It reads the whole history of these collections, in pages.
 *
 * @param resources their history is kept.
 * @param limit maximum number of objects.
 * @param pause resolves when the next page may be read.
 * @throws {StatusError} RequestEntityTooLarge if the change set has more objects, or too many writes.
 */
export async function findChangeSet(
  { store }: Pick<Engine, "store">,
  resources: readonly Resource[],
  selection: ChangeSelection,
  limit: number,
  pause: () => Promise<void>,
): Promise<ChangedObject[]> {
  const history = store.history!;
  const changed = new Map<
    string,
    { readonly resource: Resource; readonly key: string; readonly versions: Version[] }
  >();
  let writes = 0;
  for (const resource of resources) {
    if (selection.namespace !== "" && !resource.namespaced) continue;
    const prefix = prefixOf(resource, selection.namespace);
    for (let after: string | undefined; ;) {
      const { versions, next } = await history
        .changes(prefix, { after, limit: versionsAtATime })
        .catch((error: unknown) => {
          throw storeFailure(error);
        });
      for (const version of versions) {
        if (version.origin === undefined || !selects(selection, version.origin)) continue;
        const { key } = version;
        let object = changed.get(key);
        if (object === undefined) changed.set(key, (object = { resource, key, versions: [] }));
        object.versions.push(version);
        writes++;
      }
      if (writes > maxWrites)
        throw new StatusError(
          "RequestEntityTooLarge",
          `the change set has more than ${maxWrites} writes; undo a part of it`,
        );
      if (changed.size > limit)
        throw new StatusError(
          "RequestEntityTooLarge",
          `the change set has more than ${limit} objects, the limit of a transaction; undo a part of it`,
        );
      if (next === undefined) break;
      after = next;
      await pause();
    }
  }
  return [...changed.values()];
}

function selects({ change, user, manager, from, to }: ChangeSelection, origin: Origin): boolean {
  if (change !== undefined && origin.requestId !== change) return false;
  if (user !== undefined && origin.user !== user) return false;
  if (manager !== undefined && origin.manager !== manager) return false;
  return origin.time >= (from ?? -Infinity) && origin.time <= (to ?? Infinity);
}
