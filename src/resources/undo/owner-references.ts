import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { ApiObject, OwnerReferenceValue } from "../../schema/kind.ts";
import type { Engine, Target } from "../engine/engine.ts";
import { uidOf } from "../objects/stored.ts";
import { keyOf } from "../registry/registry.ts";
import type { PlannedWrite } from "./planned-write.ts";

/** An object with the owner references that a plan gives it. */
export interface LinkedObject {
  readonly object: ApiObject;
  /** References that were dropped. */
  readonly dropped: readonly OwnerReferenceValue[];
}

/** The owner references of objects that plans create or update: an owner that is created again has another uid. */
export class OwnerReferences {
  /** New uids of objects that were created again, by their old ones. */
  private readonly created = new Map<string, string>();

  /** @param mayRead whether the user may read an object; a reference to another one would show its uid. */
  constructor(
    private readonly engine: Engine,
    private readonly mayRead: (target: Target) => MaybePromise<boolean>,
  ) {}

  /** Records that an object was created again. */
  add(oldUid: string, { metadata }: ApiObject): void {
    if (oldUid !== "") this.created.set(oldUid, metadata.uid ?? "");
  }

  /**
   * Returns the object with references to the owners that exist now: those that were created again, and those with the same kind and name.
   * Other references are dropped, because the object would be deleted with its missing owner. Those that the current object has stay.
   */
  async link({ object, target, now }: PlannedWrite): Promise<LinkedObject> {
    const { ownerReferences = [] } = object!.metadata;
    const current = new Set((now?.metadata.ownerReferences ?? []).map(({ uid }) => uid));
    if (ownerReferences.every(({ uid }) => current.has(uid))) return { object: object!, dropped: [] };
    const linked: OwnerReferenceValue[] = [];
    const dropped: OwnerReferenceValue[] = [];
    for (const reference of ownerReferences) {
      const uid = current.has(reference.uid) ? reference.uid : await this.uidNow(reference, target);
      if (uid === undefined) dropped.push(reference);
      else linked.push({ ...reference, uid });
    }
    const { ownerReferences: _, ...metadata } = object!.metadata;
    const own = linked.length === 0 ? metadata : { ...metadata, ownerReferences: linked };
    return { object: { ...object!, metadata: own }, dropped };
  }

  /** Returns the uid of an owner; undefined if there is none. */
  private async uidNow(reference: OwnerReferenceValue, dependent: Target): Promise<string | undefined> {
    const created = this.created.get(reference.uid);
    if (created !== undefined) return created;
    const { registry, store } = this.engine;
    const resource = registry.findKind(reference.apiVersion, reference.kind);
    if (resource === undefined || (resource.namespaced && dependent.namespace === "")) return undefined;
    const namespace = resource.namespaced ? dependent.namespace : "";
    const { name } = reference;
    if (!(await this.mayRead({ resource, namespace, name, subresource: "" }))) return undefined;
    const entry = await store.get(keyOf(resource, namespace, name));
    return entry && uidOf(entry);
  }
}

/** Returns creations with namespaces first and owners before their dependents, then updates, then deletions with namespaces last. */
export function inOrderOfOwners<P extends PlannedWrite>(plans: readonly P[]): P[] {
  const of = (action: P["action"]) => plans.filter((plan) => plan.action === action);
  const isNamespace = ({ target: { resource } }: P) =>
    resource.group === "" && resource.name === "namespaces";
  const created = of("create");
  const byUid = new Map(created.map((plan) => [plan.oldUid, plan]));
  const ordered = new Set<P>(created.filter(isNamespace));
  const visited = new Set<P>();
  // An iterative walk, because a chain of owners can be long.
  for (const first of created) {
    const stack = [first];
    for (let plan = stack.at(-1); plan !== undefined; plan = stack.at(-1)) {
      const owners = (plan.object!.metadata.ownerReferences ?? []).map(({ uid }) => byUid.get(uid));
      const next = visited.has(plan) ? [] : owners.filter((one) => one !== undefined && !visited.has(one));
      visited.add(plan);
      if (next.length > 0) stack.push(...(next as P[]));
      else ordered.add(stack.pop()!);
    }
  }
  const deleted = of("delete");
  const last = deleted.filter(isNamespace);
  return [...ordered, ...of("update"), ...deleted.filter((plan) => !isNamespace(plan)), ...last];
}
