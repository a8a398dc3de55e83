import { since } from "../../../base/release-rows.ts";
import { checkMergedKeys } from "./match-label-keys.ts";
import { NodeSelector, NodeSelectorTerm } from "../node-selector.ts";
import { struct } from "../v1.ts";
import { namespaceName, qualifiedName } from "../../checks/names.ts";
import { between } from "../../checks/numbers.ts";
import { labelSelector } from "../../checks/selectors.ts";
import { LabelSelector } from "../../meta/label-selector.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { field, int32, list, string } from "../../../schema/types.ts";

/** Requires the key of a node label. */
function nodeLabelKey(key: string, report: FieldReport): void {
  if (key === "") report.required("can not be empty");
  qualifiedName(key, report);
}

const PreferredSchedulingTerm = struct(
  "PreferredSchedulingTerm",
  "A preference for nodes, with a weight; an empty term prefers no node.",
  {
    weight: field(1, int32, "Weight of the preference, 1 to 100.").required().check(between(1, 100)),
    preference: field(2, NodeSelectorTerm, "Term that selects the preferred nodes.").required(),
  },
);

const NodeAffinity = struct("NodeAffinity", "Rules for the nodes on which a pod can run, by their labels.", {
  requiredDuringSchedulingIgnoredDuringExecution: field(
    1,
    NodeSelector,
    "Nodes on which the pod can be scheduled.",
  ).nullable(),
  preferredDuringSchedulingIgnoredDuringExecution: field(
    2,
    list(PreferredSchedulingTerm),
    "Nodes on which the pod is preferably scheduled.",
  ).atomic(),
});

const PodAffinityTerm = struct(
  "PodAffinityTerm",
  "A group of pods and the topology for being near to them or apart from them.",
  {
    labelSelector: field(1, LabelSelector, "Label selector of the other pods.")
      .nullable()
      .check(labelSelector),
    namespaces: field(
      2,
      list(string),
      "Namespaces of the other pods. Default, without `namespaceSelector`: the namespace of the pod.",
    ).atomic(),
    topologyKey: field(3, string, "Node label; nodes with the same value are in the same topology domain.")
      .declaredRequired()
      .checkedWhenEmpty()
      .check(nodeLabelKey),
    namespaceSelector: field(4, LabelSelector, "Label selector of further namespaces; empty selects all.")
      .nullable()
      .check(labelSelector),
  },
  {
    check(term, report) {
      // As in the reference, the path has no index and is singular.
      for (const name of term.namespaces ?? []) namespaceName(name, report.at("namespace"));
      checkMergedKeys(term, report);
    },
    later: () => ({
      matchLabelKeys: since(
        "1.29",
        field(5, list(string), "Keys of pod labels; only pods with the same values as this pod match.")
          .atomic()
          .gated("MatchLabelKeysInPodAffinity"),
      ),
      mismatchLabelKeys: since(
        "1.29",
        field(6, list(string), "Keys of pod labels; only pods with other values than this pod match.")
          .atomic()
          .gated("MatchLabelKeysInPodAffinity"),
      ),
    }),
  },
);

const WeightedPodAffinityTerm = struct(
  "WeightedPodAffinityTerm",
  "A preference for being near to pods or apart from them, with a weight.",
  {
    weight: field(1, int32, "Weight of the preference, 1 to 100.").required().check(between(1, 100)),
    podAffinityTerm: field(2, PodAffinityTerm, "The pods and the topology.").required(),
  },
);

const PodAffinity = struct(
  "PodAffinity",
  "Rules for running a pod in the same topology domain, such as a zone, as certain other pods.",
  {
    requiredDuringSchedulingIgnoredDuringExecution: field(
      1,
      list(PodAffinityTerm),
      "Terms that must all be satisfied when the pod is scheduled.",
    ).atomic(),
    preferredDuringSchedulingIgnoredDuringExecution: field(
      2,
      list(WeightedPodAffinityTerm),
      "Terms that are preferably satisfied when the pod is scheduled.",
    ).atomic(),
  },
);

const PodAntiAffinity = struct(
  "PodAntiAffinity",
  "Rules for running a pod in another topology domain, such as a zone, than certain other pods.",
  {
    requiredDuringSchedulingIgnoredDuringExecution: field(
      1,
      list(PodAffinityTerm),
      "Terms that must all be satisfied when the pod is scheduled.",
    ).atomic(),
    preferredDuringSchedulingIgnoredDuringExecution: field(
      2,
      list(WeightedPodAffinityTerm),
      "Terms that are preferably satisfied when the pod is scheduled.",
    ).atomic(),
  },
);

export const Affinity = struct("Affinity", "Scheduling constraints of a pod.", {
  nodeAffinity: field(1, NodeAffinity, "Nodes on which the pod can or should run.").nullable(),
  podAffinity: field(2, PodAffinity, "Other pods whose topology domain the pod should share.").nullable(),
  podAntiAffinity: field(
    3,
    PodAntiAffinity,
    "Other pods whose topology domain the pod should avoid.",
  ).nullable(),
});
