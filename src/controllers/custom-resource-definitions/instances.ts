import { StatusError } from "../../base/status-error.ts";
import { headerOf } from "../../resources/objects/stored.ts";
import type { Client } from "../../resources/clients/client.ts";
import { namesOf, type Resource } from "../../resources/registry/registry.ts";
import type { Entry, Store } from "../../storage/store.ts";

/** Number of concurrent deletions, and the size of a page of objects in bytes. */
const parallelDeletes = 16;
const pageBytes = 1024 * 1024;

/**
 * Requests the deletion of every object of a resource type.
 *
 * @returns the number of objects that finalizers keep.
 * @throws {StatusError} a deletion failed.
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

/** Deletes an object. Returns true if it is gone. */
async function deleteOne(client: Client, resource: Resource, entry: Entry): Promise<boolean> {
  try {
    const { uid } = headerOf(entry);
    return await client.deleteOf(resource, namesOf(entry.key), { uid });
  } catch (error) {
    if (error instanceof StatusError && error.reason === "NotFound") return true;
    throw error;
  }
}
