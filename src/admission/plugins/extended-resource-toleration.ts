import { labelKey } from "../../vocabulary/names.ts";
import { qualifiedNameFaults } from "../../base/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsPods, type AdmissionPlugin } from "../admission-chain.ts";
import { addToleration, podOf, type TolerationValue } from "../pod-spec.ts";

/**
 * ExtendedResourceToleration: a pod that requests an extended resource, such as `example.com/gpu`, tolerates the taint with the
 * name of the resource (spec: conventions 4.13). So nodes with such devices can be reserved for the pods that need them.
 */
export function extendedResourceToleration(vocabulary: Vocabulary): AdmissionPlugin {
  return {
    name: "ExtendedResourceToleration",
    concerns: concernsPods("CREATE", "UPDATE"),
    mutate(request) {
      const { spec } = podOf(request);
      const names = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
        Object.keys(resources?.requests ?? {}),
      );
      for (const key of [...new Set(names)].toSorted()) {
        if (!isExtendedResource(key, vocabulary)) continue;
        addToleration(spec, { key, operator: "Exists", effect: "NoSchedule" } as TolerationValue);
      }
    },
  };
}

/** Whether a resource has a domain other than those of the system. */
function isExtendedResource(name: string, { domain }: Vocabulary): boolean {
  if (!name.includes("/") || name.includes(labelKey(domain, "")) || name.startsWith("requests."))
    return false;
  return qualifiedNameFaults(`requests.${name}`).length === 0;
}
