import { labelKey } from "../../vocabulary/names.ts";
import { PersistentVolumeClaim } from "../../kinds/core/persistent-volume-claim.ts";
import { PersistentVolume } from "../../kinds/core/persistent-volume.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsOnly, isOf, type AdmissionPlugin } from "../admission-chain.ts";

/**
 * StorageObjectInUseProtection: adds a finalizer to new claims and volumes, so that a claim remains while a pod uses it, and a
 * volume while a claim does (spec: conventions 4.13). Controllers remove the finalizers.
 */
export function storageObjectInUseProtection({ domain }: Vocabulary): AdmissionPlugin {
  return {
    name: "StorageObjectInUseProtection",
    concerns: concernsOnly([PersistentVolumeClaim, PersistentVolume], "CREATE"),
    mutate({ object, target }) {
      const { metadata } = object!;
      const finalizer = labelKey(domain, `${isOf(target, PersistentVolume) ? "pv" : "pvc"}-protection`);
      const finalizers = metadata.finalizers ?? [];
      if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
    },
  };
}
