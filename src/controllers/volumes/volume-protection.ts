import { labelKey } from "../../vocabulary/names.ts";
import { PersistentVolume } from "../../kinds/core/persistent-volume.ts";
import type { Controller } from "../controller.ts";
import { reconcileMatching, type ReconciliationDependencies } from "../reconcile-matching.ts";
import { protectsNow, setFinalizer } from "./finalizers.ts";

/**
 * Removes the finalizer of the admission plugin StorageObjectInUseProtection from a deleted volume when it isn't bound
 * to a claim any more, so that it is deleted. Adds the finalizer to volumes that lack it.
 */
export const volumeProtection: Controller<ReconciliationDependencies> = {
  name: "pv-protection",
  start(context) {
    const finalizer = labelKey(context.registry.vocabulary.domain, "pv-protection");
    return reconcileMatching<PersistentVolume>(context, {
      controller: this.name,
      kind: PersistentVolume,
      matters: protectsNow(finalizer),
      async reconcile(volume) {
        const isDeleted = volume.metadata.deletionTimestamp !== undefined;
        if (isDeleted && volume.status?.phase === "Bound") return undefined;
        await setFinalizer(context, volume, finalizer, !isDeleted);
        return undefined;
      },
    });
  },
};
