import type { ApiObject } from "../../../src/schema/kind.ts";
import type { AnsweredList, Answer } from "../clients/api-client.ts";
import type { Change } from "../history/history.ts";
import type { World } from "../world.ts";

/** Records the resource version of an answer as seen by a client. */
export function acknowledge(world: World, resourceVersion: string | undefined): number {
  const revision = Number(resourceVersion ?? 0);
  if (revision > world.acknowledged) world.acknowledged = revision;
  return revision;
}

/** Selects the objects of a list or watch. */
export type Selects = (object: ApiObject) => boolean;

const everything: Selects = () => true;

/**
 * Checks the answer to a list at the latest revision: it is the state at its resource version, and not older than what any client knew
 * before.
 *
 * @param prefix the store's prefix of the listed objects.
 * @returns the list; undefined if there was no answer or another status.
 */
export function checkList(
  world: World,
  prefix: string,
  answer: Answer | undefined,
  selects: Selects = everything,
): AnsweredList | undefined {
  if (answer?.status !== 200) return undefined;
  const list = JSON.parse(answer.text) as AnsweredList;
  const revision = acknowledge(world, list.metadata.resourceVersion);
  const where = `list of ${prefix} at ${revision} by ${answer.server.name}`;
  if (revision < answer.acknowledgedBefore)
    world.violations.add("reads are current", `${where}: ${answer.acknowledgedBefore} was known before`);
  const state = [...world.history.stateAt(prefix, revision).values()].filter(({ object }) => selects(object));
  const expected = state.map(({ key, revision: at }) => `${key.slice(prefix.length)}@${at}`).toSorted();
  const actual = list.items.map((item) => `${nameUnder(prefix, item)}@${item.metadata.resourceVersion}`);
  const difference = firstDifference(expected, actual.toSorted());
  if (difference !== undefined) world.violations.add("lists equal the state", `${where}: ${difference}`);
  return list;
}

/** Checks the answer to a get: the object, or its absence, is the state at some time between request and answer. */
export function checkGet(world: World, key: string, answer: Answer | undefined): ApiObject | undefined {
  if (answer === undefined || (answer.status !== 200 && answer.status !== 404)) return undefined;
  const object = answer.status === 200 ? (JSON.parse(answer.text) as ApiObject) : undefined;
  const revision = object && acknowledge(world, object.metadata.resourceVersion);
  const changes = world.history.changesOf(key);
  const since = (at: number): boolean => (changes[at + 1]?.revision ?? Infinity) > answer.acknowledgedBefore;
  const isPossible =
    revision === undefined
      ? changes.length === 0 ||
        changes[0]!.revision > answer.acknowledgedBefore ||
        changes.some(({ isDeletion }, at) => isDeletion && since(at))
      : changes.some((change, at) => change.revision === revision && !change.isDeletion && since(at));
  if (!isPossible) {
    const text = `get of ${key} by ${answer.server.name}: ${revision ?? "absent"} after ${answer.acknowledgedBefore}`;
    world.violations.add("reads are current", `${text}; ${describe(changes.at(-1))}`);
  }
  return object;
}

function describe(change: Change | undefined): string {
  if (change === undefined) return "it never existed";
  return `its last change is ${change.isDeletion ? "the deletion" : "the write"} at ${change.revision}`;
}

function nameUnder(prefix: string, { metadata }: ApiObject): string {
  const isNamespaced = prefix.split("/").length > 4;
  return isNamespaced ? metadata.name! : `${metadata.namespace ?? ""}/${metadata.name!}`;
}

/** Returns a text about the first difference of two sorted lists; undefined if they are equal. */
function firstDifference(expected: readonly string[], actual: readonly string[]): string | undefined {
  const missing = expected.find((one) => !actual.includes(one));
  if (missing !== undefined) return `${missing} is missing (${actual.length} instead of ${expected.length})`;
  const extra = actual.find((one) => !expected.includes(one));
  if (extra !== undefined) return `${extra} is too much (${actual.length} instead of ${expected.length})`;
  return expected.length === actual.length ? undefined : "an object occurs twice";
}
