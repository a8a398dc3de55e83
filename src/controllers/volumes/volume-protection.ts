import { PersistentVolume } from "../../kinds/core/persistent-volume.ts";
import type { Controller } from "../controller.ts";
import { reconcileMatching, type ReconciliationDependencies } from "../reconcile-matching.ts";
import { protectsNow, setFinalizer } from "./finalizers.ts";

/**
 * Lets a deleted volume go when it is bound to no claim any more: it takes the finalizer away which the admission plugin
 * StorageObjectInUseProtection gives to new volumes. Volumes without it get it.
 */
export const volumeProtection: Controller<ReconciliationDependencies> = {
  name: "pv-protection",
  start(context) {
    const finalizer = `${context.registry.vocabulary.domain}/pv-protection`;
    return reconcileMatching<PersistentVolume>(context, {
      controller: this.name,
      kind: PersistentVolume,
      matters: protectsNow(finalizer),
      async reconcile(volume) {
        const isGoing = volume.metadata.deletionTimestamp !== undefined;
        if (isGoing && volume.status?.phase === "Bound") return undefined;
        await setFinalizer(context, volume, finalizer, !isGoing);
        return undefined;
      },
    });
  },
};
