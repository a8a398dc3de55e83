import { isDeepStrictEqual } from "node:util";
import type { Authorizer } from "../../authorization/authorizer.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";

type OwnerReference = NonNullable<ApiObject["metadata"]["ownerReferences"]>[number];

/**
 * OwnerReferencesPermissionEnforcement: only who may delete an object may change its `metadata.ownerReferences`, as its deletion
 * may follow; and whoever has it hold up the deletion of an owner (`blockOwnerDeletion`) must be allowed to update the
 * finalizers of that owner (spec: conventions 4.13).
 */
export function ownerReferencesPermissionEnforcement(
  authorizer: Authorizer,
  registry: Registry,
): AdmissionPlugin {
  return {
    name: "OwnerReferencesPermissionEnforcement",
    // The status of a pod is written by agents, which change no owners.
    concerns: (operation, { resource, subresource }) =>
      (operation === "CREATE" || operation === "UPDATE") &&
      !(subresource === "status" && resource.group === "" && resource.name === "pods"),
    validate(request) {
      const after = ownersOf(request.object);
      const before = ownersOf(request.live);
      if (isDeepStrictEqual(after, before)) return;
      return andThen(mayDelete(request, authorizer), () =>
        mayBlock(request, newlyBlocking(after, before), { authorizer, registry }),
      );
    },
  };
}

function ownersOf(object: ApiObject | undefined): readonly OwnerReference[] {
  return object?.metadata?.ownerReferences ?? [];
}

/** Who creates an object may give it owners: without it there was nothing to be deleted. */
function mayDelete(request: AdmissionRequest, authorizer: Authorizer): MaybePromise<void> {
  const { operation, target, user } = request;
  if (operation === "CREATE") return;
  const { resource, subresource, namespace, name } = target;
  const { group, version, name: type } = resource;
  const answer = authorizer.authorize({
    kind: "resource",
    user,
    verb: "delete",
    group,
    version,
    resource: type,
    subresource,
    namespace,
    name,
  });
  return andThen(answer, ({ verdict, reason }) => {
    if (verdict === "allow") return;
    throw forbidden(target, `cannot set an ownerRef on a resource you can't delete: ${reason}`);
  });
}

/** The owners whose deletion the object holds up after the write, and didn't before. */
function newlyBlocking(
  after: readonly OwnerReference[],
  before: readonly OwnerReference[],
): readonly OwnerReference[] {
  const blocking = new Map<string, boolean>();
  for (const { uid, blockOwnerDeletion } of before)
    if (!blocking.has(uid)) blocking.set(uid, blockOwnerDeletion === true);
  return after.filter(({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && !blocking.get(uid));
}

async function mayBlock(
  { target, user }: AdmissionRequest,
  owners: readonly OwnerReference[],
  { authorizer, registry }: { readonly authorizer: Authorizer; readonly registry: Registry },
): Promise<void> {
  for (const { apiVersion, kind, name } of owners) {
    const found = registry.findKind(apiVersion, kind);
    if (found === undefined) {
      throw forbidden(
        target,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`,
      );
    }
    const { verdict, reason } = await authorizer.authorize({
      kind: "resource",
      user,
      verb: "update",
      group: found.group,
      version: found.version,
      resource: found.name,
      subresource: "finalizers",
      namespace: found.namespaced ? target.namespace : "",
      name,
    });
    if (verdict === "allow") continue;
    throw forbidden(
      target,
      `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}`,
    );
  }
}
