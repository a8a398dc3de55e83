import { PersistentVolumeClaim } from "../../kinds/core/persistent-volume-claim.ts";
import { PersistentVolume } from "../../kinds/core/persistent-volume.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsOnly, isOf } from "../admitted-types.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";

/**
 * StorageObjectInUseProtection: new claims and volumes have a finalizer (spec: conventions 4.13), so that a claim stays as long
 * as a pod uses it, and a volume as long as a claim does. Controllers take the finalizers away.
 */
export function storageObjectInUseProtection({ domain }: Vocabulary): AdmissionPlugin {
  return {
    name: "StorageObjectInUseProtection",
    concerns: concernsOnly([PersistentVolumeClaim, PersistentVolume], "CREATE"),
    mutate({ object, target }) {
      const { metadata } = object!;
      const finalizer = `${domain}/${isOf(target, PersistentVolume) ? "pv" : "pvc"}-protection`;
      const finalizers = metadata.finalizers ?? [];
      if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
    },
  };
}
