import { labelKey } from "../../vocabulary/names.ts";
import { PersistentVolumeClaim } from "../../kinds/core/persistent-volume-claim.ts";
import { Pod } from "../../kinds/core/pod/pod.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { namesOf } from "../../resources/registry/registry.ts";
import type { Entry } from "../../storage/store.ts";
import type { Controller, ControllerContext } from "../controller.ts";
import { reconcileMatching, type ReconciliationDependencies } from "../reconcile-matching.ts";
import { protectsNow, setFinalizer } from "./finalizers.ts";

type Claim = PersistentVolumeClaim;

/**
 * Removes the finalizer of the admission plugin StorageObjectInUseProtection from a deleted claim when no pod uses the
 * claim any more, so that it is deleted. Adds the finalizer to claims that lack it.
 */
export const claimProtection: Controller<ReconciliationDependencies> = {
  name: "pvc-protection",
  start(context) {
    const finalizer = labelKey(context.registry.vocabulary.domain, "pvc-protection");
    const waiting = new WaitingClaims();
    const claims = reconcileMatching<Claim>(context, {
      controller: this.name,
      kind: PersistentVolumeClaim,
      matters: protectsNow(finalizer),
      async reconcile(claim) {
        const { namespace = "", name = "", deletionTimestamp } = claim.metadata;
        const isDeleted = deletionTimestamp !== undefined;
        // Registered before the pods are read, so that no change of a pod is missed.
        if (isDeleted) waiting.add(namespace, name);
        if (isDeleted && (await isUsed(context, claim))) return undefined;
        waiting.remove(namespace, name);
        await setFinalizer(context, claim, finalizer, !isDeleted);
        return undefined;
      },
      removed: (namespace, name) => waiting.remove(namespace, name),
    });
    const requeue = (key: string) => {
      const { namespace } = namesOf(key);
      for (const name of waiting.in(namespace)) claims.add(namespace, name);
    };
    const pods = new Follower(
      context.store,
      context.registry.require(Pod).storePrefix,
      {
        matters: ({ key }: Entry) => waiting.has(namesOf(key).namespace),
        put: ({ key }: Entry) => requeue(key),
        remove: requeue,
        failed: (error) => context.failed(this.name, "pods", error),
      },
      context.clock,
    );
    pods.startInBackground();
    return {
      failing: () => claims.failing() || pods.failing,
      close() {
        pods.close();
        return claims.close();
      },
    };
  },
};

/** Deleted claims that are still in use, by namespace. */
class WaitingClaims {
  private readonly byNamespace = new Map<string, Set<string>>();

  has(namespace: string): boolean {
    return this.byNamespace.has(namespace);
  }

  in(namespace: string): Iterable<string> {
    return this.byNamespace.get(namespace) ?? [];
  }

  add(namespace: string, name: string): void {
    const names = this.byNamespace.get(namespace);
    if (names === undefined) this.byNamespace.set(namespace, new Set([name]));
    else names.add(name);
  }

  remove(namespace: string, name: string): void {
    const names = this.byNamespace.get(namespace);
    names?.delete(name);
    if (names?.size === 0) this.byNamespace.delete(namespace);
  }
}

async function isUsed({ client }: Pick<ControllerContext, "client">, claim: Claim): Promise<boolean> {
  const { namespace = "" } = claim.metadata;
  const { items } = await client.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace });
  return items.some((pod) => uses(pod, claim));
}

/** Returns true if a pod uses a claim. A pod without a node doesn't: it won't be started with a deleted claim. */
function uses(pod: Pod, { metadata }: Claim): boolean {
  const { nodeName = "", volumes = [] } = pod.spec ?? {};
  if (nodeName === "") return false;
  const hasEnded = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
  const isOwner = metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid) ?? false;
  return volumes.some((volume) => {
    if (volume.persistentVolumeClaim?.claimName === metadata.name) return true;
    const ownName = `${pod.metadata.name}-${volume.name}`;
    return volume.ephemeral !== undefined && ownName === metadata.name && isOwner && !hasEnded;
  });
}
