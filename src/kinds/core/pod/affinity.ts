import { checkMergedKeys } from "./match-label-keys.ts";
import { NodeSelector, NodeSelectorTerm } from "../node-selector.ts";
import { struct } from "../v1.ts";
import { namespaceName, qualifiedName } from "../../checks/names.ts";
import { between } from "../../checks/numbers.ts";
import { labelSelector } from "../../checks/selectors.ts";
import { LabelSelector } from "../../meta/label-selector.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { since } from "../../../schema/later-fields.ts";
import { field, int32, list, string } from "../../../schema/types.ts";

/** Requires the key of a node label. */
function nodeLabelKey(key: string, report: FieldReport): void {
  if (key === "") report.required("can not be empty");
  qualifiedName(key, report);
}

const PreferredSchedulingTerm = struct(
  "PreferredSchedulingTerm",
  "A wish for certain nodes, with its weight; an empty term wishes for nothing.",
  {
    weight: field(1, int32, "How much the wish counts, from 1 to 100.").required().check(between(1, 100)),
    preference: field(2, NodeSelectorTerm, "The nodes that are wished for.").required(),
  },
);

const NodeAffinity = struct("NodeAffinity", "Which nodes a pod must or would like to run on.", {
  requiredDuringSchedulingIgnoredDuringExecution: field(
    1,
    NodeSelector,
    "Nodes that alone come into question when the pod is placed.",
  ).nullable(),
  preferredDuringSchedulingIgnoredDuringExecution: field(
    2,
    list(PreferredSchedulingTerm),
    "Nodes that are preferred when the pod is placed.",
  ).atomic(),
});

const PodAffinityTerm = struct(
  "PodAffinityTerm",
  "Pods near to which, or away from which, the pod is placed.",
  {
    labelSelector: field(1, LabelSelector, "Selects the other pods by their labels.")
      .nullable()
      .check(labelSelector),
    namespaces: field(
      2,
      list(string),
      "Namespaces of the other pods; empty, without a selector, is the pod's own.",
    ).atomic(),
    topologyKey: field(3, string, "Node label whose equal values mean near to each other.")
      .declaredRequired()
      .checkedWhenEmpty()
      .check(nodeLabelKey),
    namespaceSelector: field(
      4,
      LabelSelector,
      "Selects further namespaces by their labels; the empty selector selects all.",
    )
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
        field(5, list(string), "Keys whose values in the pod's labels narrow the selector.")
          .atomic()
          .gated("MatchLabelKeysInPodAffinity"),
      ),
      mismatchLabelKeys: since(
        "1.29",
        field(6, list(string), "Keys whose values in the pod's labels exclude other pods.")
          .atomic()
          .gated("MatchLabelKeysInPodAffinity"),
      ),
    }),
  },
);

const WeightedPodAffinityTerm = struct(
  "WeightedPodAffinityTerm",
  "A wish about other pods, with its weight.",
  {
    weight: field(1, int32, "How much the wish counts, from 1 to 100.").required().check(between(1, 100)),
    podAffinityTerm: field(2, PodAffinityTerm, "What is wished for.").required(),
  },
);

const PodAffinity = struct("PodAffinity", "Other pods near to which a pod must or would like to run.", {
  requiredDuringSchedulingIgnoredDuringExecution: field(
    1,
    list(PodAffinityTerm),
    "Terms that must all hold when the pod is placed.",
  ).atomic(),
  preferredDuringSchedulingIgnoredDuringExecution: field(
    2,
    list(WeightedPodAffinityTerm),
    "Terms that should hold when the pod is placed.",
  ).atomic(),
});

const PodAntiAffinity = struct(
  "PodAntiAffinity",
  "Other pods away from which a pod must or would like to run.",
  {
    requiredDuringSchedulingIgnoredDuringExecution: field(
      1,
      list(PodAffinityTerm),
      "Terms that must all hold when the pod is placed.",
    ).atomic(),
    preferredDuringSchedulingIgnoredDuringExecution: field(
      2,
      list(WeightedPodAffinityTerm),
      "Terms that should hold when the pod is placed.",
    ).atomic(),
  },
);

export const Affinity = struct("Affinity", "Rules about where a pod is placed.", {
  nodeAffinity: field(1, NodeAffinity, "Rules about nodes.").nullable(),
  podAffinity: field(2, PodAffinity, "Rules about pods to be near to.").nullable(),
  podAntiAffinity: field(3, PodAntiAffinity, "Rules about pods to keep away from.").nullable(),
});
