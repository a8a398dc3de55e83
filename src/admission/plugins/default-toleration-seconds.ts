import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsPods } from "../admitted-types.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { podOf, type TolerationValue } from "../pod-spec.ts";

/** For how long pods stay on a node that isn't ready, or can't be reached, unless they say so themselves; in seconds. */
export interface TolerationSeconds {
  readonly notReady: number;
  readonly unreachable: number;
}

/** Unless configured. */

/**
 * DefaultTolerationSeconds: pods tolerate the taints `not-ready:NoExecute` and `unreachable:NoExecute` of a node for a time,
 * unless they say for how long (spec: conventions 4.13).
 */
export function defaultTolerationSeconds(
  { notReady, unreachable }: TolerationSeconds,
  { domain }: Vocabulary,
): AdmissionPlugin {
  const taints = [
    [`node.${domain}/not-ready`, notReady],
    [`node.${domain}/unreachable`, unreachable],
  ] as const;
  return {
    name: "DefaultTolerationSeconds",
    concerns: concernsPods("CREATE", "UPDATE"),
    mutate(request) {
      const { spec } = podOf(request);
      const own = spec.tolerations ?? [];
      const added = taints
        .filter(([key]) => !own.some((toleration) => isAbout(toleration, key)))
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

/** Whether a toleration says something of a taint with this key that drives pods off. */
function isAbout({ key = "", effect = "" }: TolerationValue, taint: string): boolean {
  return (key === "" || key === taint) && (effect === "" || effect === "NoExecute");
}
