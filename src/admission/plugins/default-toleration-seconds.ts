import { labelKey } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsPods, type AdmissionPlugin } from "../admission-chain.ts";
import { podOf, type TolerationValue } from "../pod-spec.ts";

/** Default duration for which pods stay on a node that is not ready or unreachable, in seconds. */
export interface TolerationSeconds {
  readonly notReady: number;
  readonly unreachable: number;
}

/**
 * DefaultTolerationSeconds: pods without a toleration for the taints `not-ready:NoExecute` and `unreachable:NoExecute` get one
 * with a duration (spec: conventions 4.13).
 */
export function defaultTolerationSeconds(
  { notReady, unreachable }: TolerationSeconds,
  { domain }: Vocabulary,
): AdmissionPlugin {
  const taints = [
    [labelKey(domain, "not-ready", "node"), notReady],
    [labelKey(domain, "unreachable", "node"), unreachable],
  ] as const;
  return {
    name: "DefaultTolerationSeconds",
    concerns: concernsPods("CREATE", "UPDATE"),
    mutate(request) {
      const { spec } = podOf(request);
      const own = spec.tolerations ?? [];
      const added = taints
        .filter(([key]) => !own.some((toleration) => toleratesNoExecute(toleration, key)))
        .map(([key, tolerationSeconds]) => ({
          key,
          operator: "Exists",
          effect: "NoExecute",
          tolerationSeconds,
        }));
      if (added.length > 0) spec.tolerations = [...own, ...added] as TolerationValue[];
    },
  };
}

/** Whether a toleration applies to a taint with this key and the effect NoExecute. */
function toleratesNoExecute({ key = "", effect = "" }: TolerationValue, taint: string): boolean {
  return (key === "" || key === taint) && (effect === "" || effect === "NoExecute");
}
