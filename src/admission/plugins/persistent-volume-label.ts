import { objectAs } from "../../schema/api-object.ts";
import { labelKey } from "../../vocabulary/names.ts";
import { PersistentVolume } from "../../kinds/core/persistent-volume.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsOnly, type AdmissionPlugin } from "../admission-chain.ts";

/**
 * PersistentVolumeLabel: adds labels for region and zone to a new volume of a cloud (spec: conventions 4.13). Deprecated. The
 * server calls no cloud API: it labels volumes with an id that contains the zone (`aws://eu-west-1a/vol-1`). Existing labels are
 * kept.
 */
export function persistentVolumeLabel({ domain }: Vocabulary): AdmissionPlugin {
  const keys = { zone: labelKey(domain, "zone", "topology"), region: labelKey(domain, "region", "topology") };
  return {
    name: "PersistentVolumeLabel",
    concerns: concernsOnly([PersistentVolume], "CREATE"),
    mutate({ object }) {
      const volume = objectAs<PersistentVolume>(object!);
      const id = volume.spec?.awsElasticBlockStore?.volumeID ?? "";
      const [, zone, region] = /^aws:\/\/(([a-z0-9-]{1,60}\d)[a-z])\//.exec(id) ?? [];
      if (zone === undefined || region === undefined) return;
      volume.metadata.labels = { [keys.zone]: zone, [keys.region]: region, ...volume.metadata.labels };
    },
  };
}
