import { isAtLeast } from "../../../base/releases.ts";
import { struct } from "../v1.ts";
import { qualifiedName } from "../../checks/names.ts";
import { labelSelector } from "../../checks/selectors.ts";
import { positive } from "../../checks/numbers.ts";
import { checkMergedKeys, mergesSpreadKeys } from "./match-label-keys.ts";
import { checkMatchLabelKeys, checkMinDomains, checkToleration } from "./scheduling-rules.ts";
import { LabelSelector } from "../../meta/label-selector.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { field, int32, int64, list, string, type Static } from "../../../schema/types.ts";

export const Toleration = struct(
  "Toleration",
  "Lets the pod onto nodes with matching taints.",
  {
    key: field(1, string, "Key of the taint; empty matches all keys and needs the operator Exists.").check(
      qualifiedName,
    ),
    operator: field(2, string, "Relation of the key to the value.").oneOf("Equal", "Exists"),
    value: field(3, string, "Value of the taint; empty for Exists."),
    effect: field(4, string, "Effect of the taint; empty matches all effects.").oneOf(
      "NoExecute",
      "NoSchedule",
      "PreferNoSchedule",
    ),
    tolerationSeconds: field(
      5,
      int64,
      "For NoExecute: seconds that the taint is tolerated; absent is forever.",
    ).nullable(),
  },
  { check: checkToleration },
);

/** Checks a selector in releases from 1.27 on; as in the reference, it isn't validated in earlier ones. */
function laterSelector(
  selector: Static<typeof LabelSelector>,
  report: FieldReport,
  { release }: Pick<KindContext, "release">,
): void {
  if (isAtLeast(release, "1.27")) labelSelector(selector, report);
}

export const TopologySpreadConstraint = struct(
  "TopologySpreadConstraint",
  "How matching pods are spread over parts of the cluster.",
  {
    maxSkew: field(1, int32, "Greatest allowed difference in number between two parts.")
      .required()
      .check(positive),
    topologyKey: field(2, string, "Node label whose values are the parts.").required(),
    whenUnsatisfiable: field(3, string, "What happens with a pod that would break the constraint.")
      .declaredRequired()
      .checkedWhenEmpty()
      .oneOf("DoNotSchedule", "ScheduleAnyway"),
    labelSelector: field(4, LabelSelector, "Selects the pods that are counted.")
      .nullable()
      .check(laterSelector),
    minDomains: field(5, int32, "Least number of parts that must be eligible.")
      .nullable()
      .gated("MinDomainsInPodTopologySpread")
      .check(positive),
    nodeAffinityPolicy: field(
      6,
      string,
      "Whether the pod's node affinity and selector decide which nodes are counted.",
    )
      .nullable()
      .oneOf("Honor", "Ignore")
      .gated("NodeInclusionPolicyInPodTopologySpread"),
    nodeTaintsPolicy: field(7, string, "Whether taints decide which nodes are counted.")
      .nullable()
      .oneOf("Honor", "Ignore")
      .gated("NodeInclusionPolicyInPodTopologySpread"),
    matchLabelKeys: field(8, list(string), "Keys whose values in the pod's labels narrow the selector.")
      .atomic()
      .gated("MatchLabelKeysInPodTopologySpread"),
  },
  {
    check(constraint, report, context) {
      checkMinDomains(constraint, report.at("minDomains"));
      if (mergesSpreadKeys(context)) checkMergedKeys(constraint, report);
      else checkMatchLabelKeys(constraint, report.at("matchLabelKeys"));
    },
  },
);

export const PodSchedulingGate = struct("PodSchedulingGate", "A reason not to place the pod yet.", {
  name: field(1, string, "Name of the gate.").declaredRequired(),
});

export const PodReadinessGate = struct(
  "PodReadinessGate",
  "A condition that must be true before the pod is ready.",
  {
    conditionType: field(1, string, "Type of the condition.")
      .declaredRequired()
      .knownValues("ContainersReady", "DisruptionTarget", "Initialized", "PodScheduled", "Ready"),
  },
);

export const PodOS = struct("PodOS", "Operating system of a pod.", {
  name: field(1, string, "Name of the operating system.").required().knownValues("linux", "windows"),
});
