import { objectAs } from "../../schema/api-object.ts";
import { labelKey } from "../../vocabulary/names.ts";
import { Node } from "../../kinds/core/node/node.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsOnly, type AdmissionPlugin } from "../admission-chain.ts";

/**
 * TaintNodesByCondition: a new Node gets the taint `not-ready:NoSchedule`, so that no pod is scheduled to it before its
 * conditions are evaluated (spec: conventions 4.13). A controller removes the taint.
 */
export function taintNodesByCondition({ domain }: Vocabulary): AdmissionPlugin {
  const key = labelKey(domain, "not-ready", "node");
  return {
    name: "TaintNodesByCondition",
    concerns: concernsOnly([Node], "CREATE"),
    mutate({ object }) {
      const node = objectAs<Node>(object!);
      const spec = (node.spec ??= {});
      const taints = spec.taints ?? [];
      if (taints.some((taint) => taint.key === key && taint.effect === "NoSchedule")) return;
      spec.taints = [...taints, { key, effect: "NoSchedule" }];
    },
  };
}
