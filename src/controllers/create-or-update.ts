import type { Client, NewObject, ObjectReference } from "../resources/clients/client.ts";
import { isRaced } from "../resources/clients/races.ts";
import type { ApiObject } from "../schema/kind.ts";

/**
 * Repeats an attempt that reads an object and writes it, if another write came first.
 *
 * @param maxAttempts the number of attempts, including the first.
 * @param attempt reads and writes the object; it is called again after a conflict, or if the object was created or deleted.
 * @throws what the last attempt throws, and at once any error that isn't such a race.
 */
export async function retryRaced(maxAttempts: number, attempt: () => Promise<void>): Promise<void> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isRaced(error) || count === maxAttempts) throw error;
    }
  }
}

/**
 * Creates an object, or updates the existing one, once.
 *
 * @param desired returns the object to write, from the existing one; undefined if nothing is to be written.
 * @throws {StatusError} the write failed. `isRaced` recognizes that another write came first.
 */
export async function createOrUpdate<O extends ApiObject>(
  client: Client,
  reference: ObjectReference,
  desired: (existing: O | undefined) => NewObject | undefined,
): Promise<void> {
  const existing = await client.find<O>(reference);
  const object = desired(existing);
  if (object === undefined) return;
  if (existing === undefined) await client.add(object);
  else await client.update(object);
}
