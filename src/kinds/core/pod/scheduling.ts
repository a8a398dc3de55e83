import { since } from "../../../base/release-rows.ts";
import { struct } from "../v1.ts";
import { qualifiedName } from "../../checks/names.ts";
import { labelSelector } from "../../checks/selectors.ts";
import { positive } from "../../checks/numbers.ts";
import { checkMergedKeys, mergesSpreadKeys } from "./match-label-keys.ts";
import { checkMatchLabelKeys, checkMinDomains, checkToleration } from "./scheduling-rules.ts";
import { LabelSelector } from "../../meta/label-selector.ts";
import { field, int32, int64, list, string } from "../../../schema/types.ts";

export const Toleration = struct(
  "Toleration",
  "Tolerates taints that match.",
  {
    key: field(1, string, "Key of the taint; empty, with the operator Exists, matches all keys.").check(
      qualifiedName,
    ),
    operator: field(2, string, "Comparison of the value, such as Exists or Equal. Default: Equal.").oneOf(
      "Equal",
      "Exists",
    ),
    value: field(3, string, "Value of the taint; empty for the operator Exists."),
    effect: field(
      4,
      string,
      "Effect of the taint: NoSchedule, PreferNoSchedule or NoExecute; empty matches all.",
    ).oneOf("NoExecute", "NoSchedule", "PreferNoSchedule"),
    tolerationSeconds: field(
      5,
      int64,
      "Seconds for which a NoExecute taint is tolerated; absent for no limit.",
    ).nullable(),
  },
  { check: checkToleration },
);

export const TopologySpreadConstraint = struct(
  "TopologySpreadConstraint",
  "Spreading of matching pods over topology domains.",
  {
    maxSkew: field(1, int32, "Maximum difference of the number of pods between two domains; greater than 0.")
      .required()
      .check(positive),
    topologyKey: field(
      2,
      string,
      "Node label; nodes with the same value are in the same topology domain.",
    ).required(),
    whenUnsatisfiable: field(
      3,
      string,
      "Handling of a pod that cannot satisfy the constraint: DoNotSchedule or ScheduleAnyway.",
    )
      .declaredRequired()
      .checkedWhenEmpty()
      .oneOf("DoNotSchedule", "ScheduleAnyway"),
    labelSelector: field(4, LabelSelector, "Label selector of the pods to count.")
      .nullable()
      .check(since("1.27", labelSelector)),
    minDomains: field(5, int32, "Minimum number of eligible domains.")
      .nullable()
      .gated("MinDomainsInPodTopologySpread")
      .check(positive),
    nodeAffinityPolicy: field(
      6,
      string,
      "Whether to count only nodes that match the pod's node affinity and selector: Honor or Ignore. Default: Honor.",
    )
      .nullable()
      .oneOf("Honor", "Ignore")
      .gated("NodeInclusionPolicyInPodTopologySpread"),
    nodeTaintsPolicy: field(
      7,
      string,
      "Whether to count only nodes whose taints the pod tolerates: Honor or Ignore. Default: Ignore.",
    )
      .nullable()
      .oneOf("Honor", "Ignore")
      .gated("NodeInclusionPolicyInPodTopologySpread"),
    matchLabelKeys: field(
      8,
      list(string),
      "Keys of pod labels; only pods with the same values as this pod are counted.",
    )
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

export const PodSchedulingGate = struct("PodSchedulingGate", "A gate that blocks the scheduling of a pod.", {
  name: field(1, string, "Name of the gate.").declaredRequired(),
});

export const PodReadinessGate = struct(
  "PodReadinessGate",
  "A condition that must be true for the pod to be ready.",
  {
    conditionType: field(1, string, "Type of the pod condition.")
      .declaredRequired()
      .knownValues("ContainersReady", "DisruptionTarget", "Initialized", "PodScheduled", "Ready"),
  },
);

export const PodOS = struct("PodOS", "The operating system of a pod.", {
  name: field(1, string, "Name of the operating system: linux or windows.")
    .required()
    .knownValues("linux", "windows"),
});
