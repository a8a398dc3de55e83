import { isDeepStrictEqual } from "node:util";
import type { Authorizer } from "../../authorization/authorizer.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";

type OwnerReference = NonNullable<ApiObject["metadata"]["ownerReferences"]>[number];

/**
 * OwnerReferencesPermissionEnforcement: to change `metadata.ownerReferences`, a user needs permission to delete the object,
 * because the garbage collector may delete it. To set `blockOwnerDeletion`, a user needs permission to update the finalizers of
 * the owner (spec: conventions 4.13).
 */
export function ownerReferencesPermissionEnforcement(
  authorizer: Authorizer,
  registry: Registry,
): AdmissionPlugin {
  return {
    name: "OwnerReferencesPermissionEnforcement",
    // Writes of pods/status, mostly by agents, are not checked.
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

/** Checks the permission to delete the object; not for a create. */
function mayDelete(request: AdmissionRequest, authorizer: Authorizer): MaybePromise<void> {
  const { operation, target, user } = request;
  if (operation === "CREATE") return;
  const { resource, subresource, namespace, name } = target;
  const { group, version, name: type } = resource;
  const decision = authorizer.authorize({
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
  return andThen(decision, ({ verdict, reason }) => {
    if (verdict === "allow") return;
    throw forbidden(target, `cannot set an ownerRef on a resource you can't delete: ${reason}`);
  });
}

/** Returns the owners that the object blocks after the write, and didn't block before. */
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
    const owner = registry.findKind(apiVersion, kind);
    if (owner === undefined) {
      throw forbidden(
        target,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`,
      );
    }
    const { verdict, reason } = await authorizer.authorize({
      kind: "resource",
      user,
      verb: "update",
      group: owner.group,
      version: owner.version,
      resource: owner.name,
      subresource: "finalizers",
      namespace: owner.namespaced ? target.namespace : "",
      name,
    });
    if (verdict === "allow") continue;
    throw forbidden(
      target,
      `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}`,
    );
  }
}
