import { PersistentVolume } from "../../kinds/core/persistent-volume.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsOnly } from "../admitted-types.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";

/**
 * PersistentVolumeLabel: a new volume of a cloud has labels for its region and zone (spec: conventions 4.13). Deprecated. The
 * server asks no cloud: it labels volumes of the one cloud whose ids say their zone (`aws://eu-west-1a/vol-1`), and leaves
 * labels that are there.
 */
export function persistentVolumeLabel({ domain }: Vocabulary): AdmissionPlugin {
  const keys = { zone: `topology.${domain}/zone`, region: `topology.${domain}/region` };
  return {
    name: "PersistentVolumeLabel",
    concerns: concernsOnly([PersistentVolume], "CREATE"),
    mutate({ object }) {
      const volume = object as unknown as PersistentVolume;
      const id = volume.spec?.awsElasticBlockStore?.volumeID ?? "";
      const [, zone, region] = /^aws:\/\/(([a-z0-9-]{1,60}\d)[a-z])\//.exec(id) ?? [];
      if (zone === undefined || region === undefined) return;
      volume.metadata.labels = { [keys.zone]: zone, [keys.region]: region, ...volume.metadata.labels };
    },
  };
}
