import { roundUpToMilli } from "../../quantities.ts";
import { struct } from "../v1.ts";
import { fillHostPorts } from "./port-rules.ts";
import { laterPodSpecFields, podSpecFields } from "./spec-fields.ts";
import { checkPodSpec } from "./spec-rules.ts";

export const PodSpec = struct("PodSpec", "Desired state of a Pod.", podSpecFields, {
  fill(copy) {
    roundUpToMilli(copy.overhead);
    // Both fields have the same value; the newer one has precedence.
    const account = [copy.serviceAccountName, copy.serviceAccount].find((name) => (name ?? "") !== "");
    if (account !== undefined) copy.serviceAccountName = copy.serviceAccount = account;
    if (copy.hostNetwork !== true) return;
    for (const container of [...(copy.containers ?? []), ...(copy.initContainers ?? [])]) {
      fillHostPorts(container);
    }
  },
  check: checkPodSpec,
  later: () => laterPodSpecFields,
});
