import { kind, struct } from "./v1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, int64, intOrString, list, map, string, time } from "../../schema/types.ts";
import { conditionList } from "../checks/conditions.ts";
import { countOrPercent, nonNegative } from "../checks/numbers.ts";
import { labelSelector } from "../checks/selectors.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { Condition } from "../meta/condition.ts";
import { LabelSelector } from "../meta/label-selector.ts";

const PodDisruptionBudgetSpec = struct(
  "PodDisruptionBudgetSpec",
  "The pods of a budget and the permitted disruptions.",
  {
    minAvailable: field(
      1,
      intOrString,
      "Number or percentage of pods that must remain available; not together with `maxUnavailable`.",
    ).nullable(),
    selector: field(
      2,
      LabelSelector,
      "Label selector of the pods; an empty one selects all in the namespace.",
    )
      .nullable()
      .patchReplace()
      .check(labelSelector),
    maxUnavailable: field(
      3,
      intOrString,
      "Number or percentage of pods that may be unavailable; not together with `minAvailable`.",
    ).nullable(),
    unhealthyPodEvictionPolicy: field(
      4,
      string,
      "Eviction of unhealthy pods: IfHealthyBudget or AlwaysAllow; absent means IfHealthyBudget.",
    )
      .nullable()
      .oneOf("AlwaysAllow", "IfHealthyBudget")
      .gated("PDBUnhealthyPodEvictionPolicy"),
  },
  { check: checkSpec },
);

const PodDisruptionBudgetStatus = struct(
  "PodDisruptionBudgetStatus",
  "Observed state of a PodDisruptionBudget.",
  {
    observedGeneration: field(1, int64, "Latest generation that the controller has observed."),
    disruptedPods: field(
      2,
      map(time),
      "Pods whose eviction was granted but not yet observed, with the time of the grant.",
    ),
    disruptionsAllowed: field(3, int32, "Number of pods that may be evicted now.")
      .declaredRequired()
      .check(nonNegative),
    currentHealthy: field(4, int32, "Current number of healthy pods.").declaredRequired().check(nonNegative),
    desiredHealthy: field(5, int32, "Minimum number of healthy pods.").declaredRequired().check(nonNegative),
    expectedPods: field(6, int32, "Number of pods that the budget counts.")
      .declaredRequired()
      .check(nonNegative),
    conditions: field(7, list(Condition), "Conditions of the object, at most one per type.")
      .mapBy("type")
      .patchMerge("type")
      .check(conditionList),
  },
);

interface Limits {
  readonly minAvailable?: number | string | undefined;
  readonly maxUnavailable?: number | string | undefined;
}

function checkSpec(spec: Limits, report: FieldReport): void {
  const { minAvailable, maxUnavailable } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    report.invalid(spec, "minAvailable and maxUnavailable can't both be set");
  }
  if (minAvailable !== undefined) countOrPercent(minAvailable, report.at("minAvailable"));
  if (maxUnavailable !== undefined) countOrPercent(maxUnavailable, report.at("maxUnavailable"));
}

export const PodDisruptionBudget = kind({
  name: "PodDisruptionBudget",
  resource: "poddisruptionbudgets",
  singular: "poddisruptionbudget",
  shortNames: ["pdb"],
  scope: "Namespaced",
  nameForm: "pathSegment",
  anyFinalizer: true,
  allowUnconditionalUpdate: false,
  doc: "Limits the number of pods that are evicted at the same time.",
  effect: {
    enforced:
      "evictions are refused when the status of the budget allows no disruption; a controller of yours must keep the status",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the budget.").emitEmpty(),
    spec: field(
      2,
      PodDisruptionBudgetSpec,
      "The pods of the budget and the permitted disruptions.",
    ).emitEmpty(),
    status: field(3, PodDisruptionBudgetStatus, "Observed state of the budget.").emitEmpty(),
  },
  generationOf: ({ spec }) => spec,
  status: {
    initial: () => ({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
  },
  columns: [
    nameColumn,
    {
      name: "Min Available",
      type: "string",
      doc: "Number or percentage of pods that must remain available.",
      cell: ({ spec }) => String(spec?.minAvailable ?? "N/A"),
    },
    {
      name: "Max Unavailable",
      type: "string",
      doc: "Number or percentage of pods that may be unavailable.",
      cell: ({ spec }) => String(spec?.maxUnavailable ?? "N/A"),
    },
    {
      name: "Allowed Disruptions",
      type: "integer",
      doc: "Number of pods that may be evicted now.",
      cell: ({ status }) => status?.disruptionsAllowed ?? 0,
    },
    ageColumn,
  ],
});
export type PodDisruptionBudget = ObjectFor<typeof PodDisruptionBudget>;
