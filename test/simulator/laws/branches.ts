import { markerKey } from "../../../src/storage/derived/hidden-keys.ts";
import { keyInKeyspace } from "../../../src/storage/keyspaces/keyspace-store.ts";
import type { Answer, AnsweredList } from "../clients/api-client.ts";
import type { World } from "../world.ts";
import { acknowledge } from "./reads.ts";

const law = "branches keep the state of their base";

/** A branch of the objects outside of workspaces. */
export interface Branch {
  readonly name: string;
  readonly uid: string;
  /** Revision of the state with which it begins. */
  readonly start: number;
}

/** Checks that a new branch begins with a state that isn't older than what any client knew before. */
export function checkStart(world: World, { name, start }: Branch, answer: Answer): void {
  if (start < answer.acknowledgedBefore)
    world.violations.add(
      law,
      `${name} by ${answer.server.name} begins with ${start}; ${answer.acknowledgedBefore} was known before`,
    );
}

/**
 * Checks a list of a namespace in a branch: what was written in the branch is as of the list's revision, and everything else as of the
 * branch's beginning.
 *
 * @param prefix the prefix of the objects outside of workspaces.
 */
export function checkBranchList(
  world: World,
  branch: Branch,
  prefix: string,
  answer: Answer | undefined,
): void {
  if (answer?.status !== 200) return;
  const { metadata, items } = JSON.parse(answer.text) as AnsweredList;
  const revision = acknowledge(world, metadata.resourceVersion);
  const actual = items.map((item) => `${item.metadata.name}@${item.metadata.resourceVersion}`);
  const expected = stateOf(world, branch, prefix, revision);
  if (actual.join() === expected.join()) return;
  const where = `list of ${branch.name} at ${revision} by ${answer.server.name}, begun with ${branch.start}`;
  world.violations.add(law, `${where}: ${actual.join()} instead of ${expected.join()}`);
}

/** Returns names and revisions, in the order of the names. */
function stateOf({ history }: World, { uid, start }: Branch, prefix: string, revision: number): string[] {
  const state = new Map(
    [...history.stateAt(prefix, start)].map(([key, one]) => [key.slice(prefix.length), one.revision]),
  );
  const ownPrefix = keyInKeyspace(uid, prefix);
  const hidden = history.changes(ownPrefix, 0, revision).map(({ key }) => key.slice(ownPrefix.length));
  for (const name of hidden) state.delete(name.endsWith(mark) ? name.slice(0, -mark.length) : name);
  for (const [key, one] of history.stateAt(ownPrefix, revision))
    if (!key.endsWith(mark)) state.set(key.slice(ownPrefix.length), one.revision);
  return [...state].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, at]) => `${name}@${at}`);
}

/** What the mark of a hidden key has behind the key. */
const mark = markerKey("");
