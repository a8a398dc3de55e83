import type { ApiObject } from "../../schema/kind.ts";
import type { Revision, Store } from "../../storage/store.ts";
import type { Engine, Target } from "../engine/engine.ts";
import type { Resource } from "../registry/registry.ts";
import {
  changedKeys,
  comparedResource,
  isLocalRegistration,
  prepareRegistries,
  readObjectAt,
  targetOf,
  type BranchView,
} from "./branch.ts";
import { differenceBetween, maxObjects, type BranchDifference } from "./compare-branches.ts";

/** What the operations of a preview have made of an object. */
export type OperationOutcome =
  | { readonly verb: "delete" }
  /** The revision at which the object was written last. */
  | { readonly verb: "write"; readonly revision: Revision };

/** A branch in which operations were tried. */
export interface PreviewedBranch {
  readonly view: BranchView;
  /** The engine of its base, which knows the kinds whose definitions the operations have deleted. */
  readonly base: Engine;
  /** Has the keys that the branch has written or hidden. */
  readonly own: Store;
  /** The revision before the first operation. */
  readonly start: Revision;
  /** The outcomes of the operations that changed something, by key. */
  readonly outcomes: ReadonlyMap<string, OperationOutcome>;
  /** Resolves when the next step may be done. */
  readonly pause: () => Promise<void>;
}

/** The differences that a preview shows. */
export interface PreviewDifferences {
  /** Those that the operations made. */
  readonly objects: readonly BranchDifference[];
  /** Those that others made afterwards. */
  readonly consequences: readonly BranchDifference[];
  /** Number of differing objects beyond those in the two lists. */
  readonly moreObjects: number;
  /** Number of keys that the user may not read. */
  readonly hidden: number;
}

/** Compares a branch with its state before the operations, and separates what they have changed from what others have changed. */
export async function previewDifferences(branch: PreviewedBranch): Promise<PreviewDifferences> {
  const { view, base, own, start, outcomes, pause } = branch;
  const { registry, store } = view.engine;
  await prepareRegistries(registry, base.registry);
  const objects: BranchDifference[] = [];
  const consequences: BranchDifference[] = [];
  let moreObjects = 0;
  let hidden = 0;
  const add = (list: BranchDifference[], one: BranchDifference | undefined): void => {
    if (one === undefined) return;
    if (list.length < maxObjects) list.push(one);
    else moreObjects++;
  };
  for await (const key of changedKeys(own, await store.latestRevision())) {
    await pause();
    const resource = comparedResource(key, registry, base.registry);
    if (resource === undefined) continue;
    const target = targetOf(resource, key);
    const engine = registry.ofKey(key) === undefined ? { ...base, store } : view.engine;
    const read = (at?: Revision) => readObjectAt(engine, resource, key, at);
    const [before, after] = [await read(start), await read()];
    if (isLocalRegistration(resource, after ?? before)) continue;
    if (!(await view.mayGet(target))) {
      hidden++;
      continue;
    }
    const outcome = outcomes.get(key);
    const between = await stateBetween(outcome, { before, after }, read);
    if (outcome !== undefined) add(objects, difference(target, before, between));
    add(consequences, difference(target, between, after));
  }
  return { objects, consequences, moreObjects, hidden };
}

type ReadAt = (at?: Revision) => Promise<ApiObject | undefined>;

/** Returns the state after the operations and before the consequences. */
async function stateBetween(
  outcome: OperationOutcome | undefined,
  { before, after }: { readonly before: ApiObject | undefined; readonly after: ApiObject | undefined },
  read: ReadAt,
): Promise<ApiObject | undefined> {
  if (outcome === undefined) return before;
  if (outcome.verb === "write") return read(outcome.revision);
  // The deletion belongs to the operation, also if controllers had to end it.
  return after !== undefined && after.metadata.uid === before?.metadata.uid ? after : undefined;
}

/** Compares two states of an object, its identity and its deletion included. */
function difference(
  target: Target,
  before: ApiObject | undefined,
  after: ApiObject | undefined,
): BranchDifference | undefined {
  const fields = differenceBetween(target, before, after);
  if (before === undefined || after === undefined) return fields;
  const changed = fields ?? { action: "changed" as const, target, fields: [], moreFields: 0 };
  if (before.metadata.uid !== after.metadata.uid)
    return { ...changed, notes: ["deleted, and created again"] };
  const { deletionTimestamp, finalizers = [] } = after.metadata;
  if (deletionTimestamp === undefined || before.metadata.deletionTimestamp !== undefined) return fields;
  return { ...changed, action: "terminating", notes: [reasonOf(target.resource, finalizers)] };
}

function reasonOf({ name }: Resource, finalizers: readonly string[]): string {
  if (finalizers.length > 0) return `its deletion waits for the finalizers ${finalizers.join(", ")}`;
  return name === "namespaces"
    ? "its deletion waits for what is in it"
    : "its deletion waits for the end of its grace period";
}
