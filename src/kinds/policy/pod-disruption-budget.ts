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
  "How much of an application may be disrupted on purpose.",
  {
    minAvailable: field(1, intOrString, "Number or share of the pods that must stay available.").nullable(),
    selector: field(
      2,
      LabelSelector,
      "Selects the pods of the application; an empty one selects all of the namespace.",
    )
      .nullable()
      .patchReplace()
      .check(labelSelector),
    maxUnavailable: field(
      3,
      intOrString,
      "Number or share of the pods that may be unavailable; excludes minAvailable.",
    ).nullable(),
    unhealthyPodEvictionPolicy: field(4, string, "When pods that aren't healthy may be evicted.")
      .nullable()
      .oneOf("AlwaysAllow", "IfHealthyBudget")
      .gated("PDBUnhealthyPodEvictionPolicy"),
  },
  { check: checkSpec },
);

const PodDisruptionBudgetStatus = struct(
  "PodDisruptionBudgetStatus",
  "How much of an application may be disrupted now.",
  {
    observedGeneration: field(1, int64, "Generation of the budget that was seen last."),
    disruptedPods: field(
      2,
      map(time),
      "Pods whose eviction was granted and hasn't been seen yet, with the time of the grant.",
    ),
    disruptionsAllowed: field(3, int32, "How many pods may be evicted now.")
      .declaredRequired()
      .check(nonNegative),
    currentHealthy: field(4, int32, "How many pods are healthy.").declaredRequired().check(nonNegative),
    desiredHealthy: field(5, int32, "How many pods must be healthy at least.")
      .declaredRequired()
      .check(nonNegative),
    expectedPods: field(6, int32, "How many pods the budget counts.").declaredRequired().check(nonNegative),
    conditions: field(7, list(Condition), "What is known about its state.")
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
  doc: "Limits how many pods of an application are disrupted on purpose at one time.",
  effect: {
    enforced:
      "evictions are refused when the status of the budget allows no disruption; a controller of yours must keep the status",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the budget.").emitEmpty(),
    spec: field(2, PodDisruptionBudgetSpec, "How much may be disrupted.").emitEmpty(),
    status: field(3, PodDisruptionBudgetStatus, "How much may be disrupted now.").emitEmpty(),
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
      doc: "How many pods must stay available.",
      cell: ({ spec }) => String(spec?.minAvailable ?? "N/A"),
    },
    {
      name: "Max Unavailable",
      type: "string",
      doc: "How many pods may be unavailable.",
      cell: ({ spec }) => String(spec?.maxUnavailable ?? "N/A"),
    },
    {
      name: "Allowed Disruptions",
      type: "integer",
      doc: "How many pods may be evicted now.",
      cell: ({ status }) => status?.disruptionsAllowed ?? 0,
    },
    ageColumn,
  ],
});
export type PodDisruptionBudget = ObjectFor<typeof PodDisruptionBudget>;
