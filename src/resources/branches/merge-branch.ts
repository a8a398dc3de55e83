import { encodeJson } from "../../base/json/encode.ts";
import { jsonOf } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { shapeOfStruct } from "../../fields/apply/shape.ts";
import type { MergeStrategy } from "../../fields/merge/merge-fields.ts";
import { core, isKindOf } from "../../kinds/groups.ts";
import type { ApiObject, OwnerReferenceValue } from "../../schema/kind.ts";
import type { Revision } from "../../storage/store.ts";
import type { Engine, Target } from "../engine/engine.ts";
import { ignoredFields } from "../ownership/field-ownership.ts";
import { keyOf, type Resource } from "../registry/registry.ts";
import { inTransaction } from "../transactions/transaction.ts";
import { contentsOf } from "../undo/contents.ts";
import { againWhileChanged, executePlans, inOrder } from "../undo/execute-plans.ts";
import type { PlannedWrite, WriteAccess } from "../undo/planned-write.ts";
import { uidOf } from "../objects/stored.ts";
import {
  changedKeys,
  comparedResource,
  isLocalRegistration,
  prepareRegistries,
  readObjectAt,
  sameResource,
  targetOf,
  type Branch,
} from "./branch.ts";
import { mergeObject, ofObject, type BranchConflict, type ObjectMerge } from "./merge-object.ts";

/** What to merge. */
export interface MergeRequest {
  readonly branch: Branch;
  /** How conflicts are resolved; undefined to merge nothing if there are some. */
  readonly strategy: MergeStrategy | undefined;
  /** Whether nothing is committed. */
  readonly dryRun: boolean;
  /** Resolves when the next step may be done. */
  readonly pause: () => Promise<void>;
}

/** What a merge does with an object. */
export interface PlannedMerge extends ObjectMerge, PlannedWrite {}

export interface MergedObject extends PlannedMerge {
  /** Owner references that the object doesn't get. */
  readonly dropped: readonly OwnerReferenceValue[];
}

/** What a merge does. */
export interface MergeOutcome {
  /** The objects that differ or conflict, in the order in which they are written. */
  readonly objects: readonly MergedObject[];
  /** Number of changed objects that the user may not read. */
  readonly hidden: number;
  /** Undefined if nothing was written. */
  readonly revision: Revision | undefined;
}

/** Maximum number of changed keys of a workspace that is merged. */
const maxKeys = 50_000;

/**
 * Merges what a workspace has changed into a target, in one transaction and with the rights of the user. If a conflict isn't resolved by
 * the strategy, nothing is written: the objects in the outcome have the conflicts.
 *
 * @param target the engine of the target.
 * @param accessOf returns the access of the user to the objects of the target in an engine.
 * @throws {StatusError} Forbidden if the user may not read one of the objects in the target; RequestEntityTooLarge above the limits of a
 *   transaction; the errors of the writes.
 */
export async function mergeBranch(
  target: Engine,
  request: MergeRequest,
  accessOf: (engine: Engine) => WriteAccess,
): Promise<MergeOutcome> {
  const { branch, dryRun } = request;
  await prepareRegistries(branch.engine.registry, target.registry);
  const at = await branch.engine.store.latestRevision();
  const keys: string[] = [];
  for await (const key of changedKeys(branch.own, at)) {
    keys.push(key);
    if (keys.length > maxKeys) throw tooLarge(`the workspace has changed more than ${maxKeys} objects`);
  }
  return againWhileChanged(async () => {
    const { value, revision } = await inTransaction(target, dryRun, (staged) =>
      new Merging(staged, request, at, accessOf(staged)).run(keys),
    );
    return { ...value, revision };
  });
}

/** One attempt of a merge. */
class Merging {
  private hidden = 0;

  constructor(
    private readonly target: Engine,
    private readonly request: MergeRequest,
    private readonly at: Revision,
    private readonly access: WriteAccess,
  ) {}

  async run(keys: readonly string[]): Promise<Omit<MergeOutcome, "revision">> {
    const { target, access } = this;
    const { pause } = this.request;
    const { writes, bytes: limit } = target.store.transactionLimits;
    const plans: PlannedMerge[] = [];
    let bytes = 0;
    let written = 0;
    for (const key of keys) {
      const plan = await this.plan(key);
      await pause();
      if (plan === undefined || (plan.action === "none" && plan.conflicts.length === 0)) continue;
      plans.push(plan);
      if (plan.action !== "none") written++;
      if (plan.action === "create" || plan.action === "update")
        bytes += encodeJson(jsonOf(plan.object!)).length;
      if (written > writes)
        throw tooLarge(`the merge would write more than ${writes} objects, the limit of a transaction`);
      if (bytes > limit)
        throw tooLarge(`the objects of the merge are larger than ${limit} bytes, the limit of a transaction`);
    }
    await this.addContents(plans);
    const { hidden } = this;
    const isRefused = plans.some(({ conflicts }) =>
      conflicts.some(({ resolution }) => resolution === undefined),
    );
    if (isRefused) return { objects: inOrder(plans), hidden };
    return { objects: await executePlans(target, plans, access, pause), hidden };
  }

  /** Returns undefined for what isn't merged. */
  private async plan(key: string): Promise<PlannedMerge | undefined> {
    const { branch, strategy } = this.request;
    const source = branch.engine.registry;
    const resource = comparedResource(key, source, this.target.registry);
    if (resource === undefined) return undefined;
    const target = targetOf(resource, key);
    if (!(await branch.mayGet(target))) return this.hide();
    const theirs = await readObjectAt(branch.engine, resource, key, this.at);
    const base = await this.baseOf(resource, key);
    // The values of others are invisible in both.
    if (theirs === undefined && base === undefined) return this.hide();
    if (isLocalRegistration(resource, theirs ?? base)) return undefined;
    const targetResource = sameResource(resource, this.target.registry);
    if (targetResource === undefined) return this.notServed(target, key, theirs);
    const own: Target = { ...target, resource: targetResource };
    const kind = { shape: shapeOfStruct(targetResource.kind.type), ignored: ignoredFields(own) };
    const unchanged = mergeObject({ base, theirs, ours: base }, kind, undefined);
    if (unchanged.action === "none") return undefined;
    if (!(await this.access.mayRead(own)))
      throw new StatusError(
        "Forbidden",
        `${targetResource.name} ${JSON.stringify(own.name)}: the workspace has changed it, and you may not get it in the target of the merge`,
      );
    const now = await readObjectAt(this.target, targetResource, key);
    const linked = theirs && (await this.withOwnersOfTarget(theirs, own));
    const merge = mergeObject({ base, theirs: linked, ours: now }, kind, strategy);
    const object =
      merge.action === "create" ? withoutAllocations(targetResource, merge.object!) : merge.object;
    return { ...merge, object, target: own, key, now };
  }

  private hide(): undefined {
    this.hidden++;
    return undefined;
  }

  private async baseOf(resource: Resource, key: string): Promise<ApiObject | undefined> {
    const { start, engine } = this.request.branch;
    return start && readObjectAt({ ...engine, store: start.store }, resource, key, start.at);
  }

  private notServed(target: Target, key: string, theirs: ApiObject | undefined): PlannedMerge | undefined {
    if (theirs === undefined) return undefined;
    const conflict: BranchConflict = {
      ...ofObject,
      reason: "NotServed",
      theirManagers: [],
      ourManagers: [],
      resolution: this.request.strategy === "ours" ? "ours" : undefined,
    };
    const nothing = { action: "none", object: undefined, now: undefined, oldUid: "", fields: [] } as const;
    return { ...nothing, target, key, conflicts: [conflict] };
  }

  /**
   * Returns an object of the workspace with the uids that its owners have in the target. Owners that don't exist there yet keep their
   * uids until they are created.
   */
  private async withOwnersOfTarget(object: ApiObject, target: Target): Promise<ApiObject> {
    const { ownerReferences = [] } = object.metadata;
    if (ownerReferences.length === 0) return object;
    const linked: OwnerReferenceValue[] = [];
    for (const reference of ownerReferences)
      linked.push({ ...reference, uid: (await this.uidInTarget(reference, target)) ?? reference.uid });
    return { ...object, metadata: { ...object.metadata, ownerReferences: linked } };
  }

  private async uidInTarget(
    { apiVersion, kind, name, uid }: OwnerReferenceValue,
    { namespace }: Target,
  ): Promise<string | undefined> {
    const { registry, store } = this.request.branch.engine;
    const resource = registry.findKind(apiVersion, kind);
    const targetResource = resource && sameResource(resource, this.target.registry);
    if (targetResource === undefined || (targetResource.namespaced && namespace === "")) return undefined;
    const owner: Target = {
      resource: targetResource,
      namespace: targetResource.namespaced ? namespace : "",
      name,
      subresource: "",
    };
    const key = keyOf(targetResource, owner.namespace, name);
    const theirs = await store.get(key, this.at);
    // The reference is to an object that the workspace doesn't have.
    if (theirs === undefined || uidOf(theirs) !== uid) return undefined;
    if (!(await this.access.mayRead(owner))) return undefined;
    const ours = await this.target.store.get(key);
    return ours && uidOf(ours);
  }

  /** Adds the conflicts of namespaces and definitions in which the target has other objects. */
  private async addContents(plans: PlannedMerge[]): Promise<void> {
    const deletions = plans.filter(({ action }) => action === "delete");
    const deleted = new Set(deletions.map(({ key }) => key));
    const { strategy } = this.request;
    for (const [index, plan] of plans.entries()) {
      const contents = plan.action === "delete" ? await contentsOf(this.target, plan, deleted) : undefined;
      if (contents === undefined) continue;
      const conflict: BranchConflict = {
        ...ofObject,
        reason: "InUse",
        theirManagers: [],
        ourManagers: [],
        resolution: strategy,
        contents,
      };
      const action = strategy === "theirs" ? "delete" : "none";
      plans[index] = { ...plan, action, conflicts: [...plan.conflicts, conflict] };
    }
  }
}

function tooLarge(why: string): StatusError {
  return new StatusError("RequestEntityTooLarge", `${why}; nothing was written`);
}

/** Returns a new object without what the server allocates, which may be in use in the target. */
function withoutAllocations({ kind }: Resource, object: ApiObject): ApiObject {
  if (!isKindOf(kind, core, "Service")) return object;
  const {
    clusterIP,
    clusterIPs,
    healthCheckNodePort: _,
    ports,
    ...spec
  } = object["spec"] as Record<string, unknown> & {
    readonly ports?: readonly { readonly nodePort?: number }[];
  };
  const isHeadless = clusterIP === "None";
  return {
    ...object,
    spec: {
      ...spec,
      ...(isHeadless ? { clusterIP, clusterIPs } : {}),
      ...(ports && { ports: ports.map(({ nodePort: _nodePort, ...port }) => port) }),
    },
  };
}
