import type { ApiObject } from "../../schema/kind.ts";
import type { Entry, Store } from "../../storage/store.ts";
import { keyOf, storePrefixOf, type Resource } from "../../resources/registry/registry.ts";
import type { PendingWrite, StorageHooks } from "../../resources/engine/storage-hooks.ts";
import { storeFailure } from "../../resources/engine/resource-version.ts";

/** Concurrent deletions, whose writes share a sync. */
const parallelDeletes = 16;
const pageBytes = 256 * 1024;

/**
 * Hooks of CustomResourceDefinitions: before a definition is created, they remove the objects of an earlier definition of that name, so
 * that no object reappears.
 *
 * @param definitions the resource type of CustomResourceDefinitions.
 * @param reserves whether a resource is reserved for a built-in kind; its objects are never removed.
 */
export function leftoverObjects(
  store: Store,
  definitions: Resource,
  reserves: (group: string, resource: string) => boolean,
): StorageHooks {
  return {
    async beforeWrite(object, live, dryRun) {
      if (live === undefined && !dryRun) await removeLeftovers(store, definitions, object, reserves);
      return nothingPending;
    },
    afterDelete: () => Promise.resolve(),
  };
}

const nothingPending: PendingWrite = { finish: () => Promise.resolve(), undo: () => Promise.resolve() };

async function removeLeftovers(
  store: Store,
  definitions: Resource,
  definition: ApiObject,
  reserves: (group: string, resource: string) => boolean,
): Promise<void> {
  const { group, names } = definition["spec"] as { group: string; names: { plural: string } };
  if (reserves(group, names.plural)) return;
  // While the definition doesn't exist, no object under its prefix is in use.
  const conditions = [{ key: keyOf(definitions, "", definition.metadata.name!), revision: 0 }] as const;
  const remove = async ({ key, revision: expected }: Entry): Promise<boolean> => {
    const result = await store.commit({ kind: "delete", key, expected, conditions });
    return result.ok || result.failedCondition === undefined;
  };
  try {
    for (let more = true; more;) {
      const page = await store.range({ prefix: storePrefixOf(group, names.plural), maxBytes: pageBytes });
      ({ more } = page);
      for (let at = 0; at < page.entries.length; at += parallelDeletes) {
        const removed = await Promise.all(page.entries.slice(at, at + parallelDeletes).map(remove));
        if (removed.includes(false)) return;
      }
    }
  } catch (error) {
    throw storeFailure(error);
  }
}
