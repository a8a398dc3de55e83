import type { ApiObject } from "../../../src/schema/kind.ts";
import type { Answer } from "../clients/api-client.ts";
import type { World } from "../world.ts";
import { acknowledge } from "./reads.ts";

/**
 * Checks the answer to a create, update or patch: the cluster has executed a write of this key at the resource version of the answer.
 *
 * @param hasEffect whether an object has what was written.
 * @returns the object; undefined if there was no answer or a failure.
 */
export function checkWrite(
  world: World,
  key: string,
  answer: Answer | undefined,
  hasEffect: (object: ApiObject) => boolean = () => true,
): ApiObject | undefined {
  if (answer === undefined || answer.status >= 300) return undefined;
  const object = JSON.parse(answer.text) as ApiObject;
  const revision = acknowledge(world, object.metadata.resourceVersion);
  const change = world.history.changesOf(key).find((one) => one.revision === revision);
  if (change === undefined || change.isDeletion || !hasEffect(change.object))
    world.violations.add(
      "acknowledged writes are stored",
      `${key} at ${revision}, acknowledged by ${answer.server.name}, ` +
        (change === undefined ? "was never written" : "has another value"),
    );
  return object;
}

/** Checks the answer to a delete: the object with this uid was removed, or its termination has begun. */
export function checkDelete(world: World, key: string, uid: string, answer: Answer | undefined): boolean {
  if (answer === undefined || answer.status >= 300) return false;
  const ofObject = world.history.changesOf(key).filter(({ object }) => object.metadata.uid === uid);
  const hasBegun = ofObject.some(
    ({ isDeletion, object }) => isDeletion || object.metadata.deletionTimestamp !== undefined,
  );
  if (!hasBegun)
    world.violations.add(
      "acknowledged writes are stored",
      `the delete of ${key} (uid ${uid}), acknowledged by ${answer.server.name}, was not executed`,
    );
  return hasBegun;
}
