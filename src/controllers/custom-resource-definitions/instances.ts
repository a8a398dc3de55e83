import { StatusError } from "../../base/status-error.ts";
import { headerOf } from "../../resources/objects/stored.ts";
import type { Client } from "../../resources/clients/client.ts";
import { namesOf, type Resource } from "../../resources/registry/registry.ts";
import type { Entry, Store } from "../../storage/store.ts";

/** So many deletions are under way at a time, and so much is read at a time. */
const parallelDeletes = 16;
const pageBytes = 1024 * 1024;

/**
 * Asks for the deletion of every object of a resource type; answers how many are left, as finalizers hold them.
 *
 * @throws {StatusError} what a deletion failed with.
 */
export async function deleteInstances(
  { client, store }: { readonly client: Client; readonly store: Store },
  resource: Resource,
  closing: AbortSignal,
): Promise<number> {
  let left = 0;
  let after: string | undefined;
  for (;;) {
    const { entries, more } = await store.range({ prefix: resource.storePrefix, after, maxBytes: pageBytes });
    for (let at = 0; at < entries.length; at += parallelDeletes) {
      closing.throwIfAborted();
      const gone = await Promise.all(
        entries.slice(at, at + parallelDeletes).map((entry) => deleteOne(client, resource, entry)),
      );
      left += gone.filter((one) => !one).length;
    }
    if (!more) return left;
    after = entries.at(-1)!.key;
  }
}

/** Whether the object is gone. */
async function deleteOne(client: Client, resource: Resource, entry: Entry): Promise<boolean> {
  try {
    const { uid } = headerOf(entry);
    return await client.deleteOf(resource, namesOf(entry.key), { uid });
  } catch (error) {
    if (error instanceof StatusError && error.reason === "NotFound") return true;
    throw error;
  }
}
