import { labelKey } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsPods, type AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";
import { podOf } from "../pod-spec.ts";

/**
 * LimitPodHardAntiAffinityTopology: required anti-affinity terms of a pod (`requiredDuringSchedulingIgnoredDuringExecution`) must
 * have the host name as topology key, so that a pod can't keep others off a whole zone (spec: conventions 4.13).
 */
export function limitPodHardAntiAffinityTopology({ domain }: Vocabulary): AdmissionPlugin {
  const allowed = labelKey(domain, "hostname");
  return {
    name: "LimitPodHardAntiAffinityTopology",
    concerns: concernsPods("CREATE", "UPDATE"),
    validate(request) {
      const antiAffinity = podOf(request).spec.affinity?.podAntiAffinity;
      for (const { topologyKey } of antiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
        if (topologyKey === allowed) continue;
        throw forbidden(
          request.target,
          `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${topologyKey} but only key ${allowed} is allowed`,
        );
      }
    },
  };
}
