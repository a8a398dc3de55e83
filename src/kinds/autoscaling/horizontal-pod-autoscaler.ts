import { since, until, applies } from "../../base/release-rows.ts";
import { isDeepStrictEqual } from "node:util";
import { kind, struct } from "./v2.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Column } from "../../schema/columns.ts";
import type { ApiObject, ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, int64, list, quantity, string, time, type Static } from "../../schema/types.ts";
import { quantityFrom } from "../quantities.ts";
import { nonNegative } from "../checks/numbers.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { MetricSpec } from "./metric-spec.ts";
import { MetricStatus } from "./metric-status.ts";
import { CrossVersionObjectReference } from "./object-reference.ts";
import {
  checkLowest,
  checkReplicas,
  checkScalingRules,
  defaultMetric,
  fillBehavior,
} from "./scaling-rules.ts";
import { referenceText, targetsText } from "./target-cells.ts";
import type { KindContext } from "../../schema/context.ts";

interface Reference {
  readonly apiVersion?: string | undefined;
  readonly kind: string;
}

interface Metric {
  readonly object?: { readonly describedObject: Reference } | undefined;
}

interface Spec {
  readonly scaleTargetRef?: Reference | undefined;
  readonly metrics?: readonly Metric[] | undefined;
}

const checksVersions = applies(since("1.34"));

/**
 * Checks the versions of the objects that an autoscaler names, in releases from 1.34 on. What the live autoscaler has already is
 * accepted.
 */
function checkVersions(
  spec: Spec | undefined,
  live: Spec | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  if (!checksVersions(context)) return;
  const target = spec?.scaleTargetRef;
  const before = live?.scaleTargetRef;
  const unchanged = target?.apiVersion === before?.apiVersion && target?.kind === before?.kind;
  // A replication controller is of the core group, which has no name.
  const needsGroup = target?.kind !== "ReplicationController";
  if (live === undefined || !unchanged)
    checkVersion(target?.apiVersion, needsGroup, report.at("scaleTargetRef", "apiVersion"));
  if (metricsOf(live).some(({ object }) => hasManySlashes(object?.describedObject.apiVersion))) return;
  for (const [index, { object }] of metricsOf(spec).entries())
    checkVersion(
      object?.describedObject.apiVersion,
      false,
      report.at("metrics", index, "object", "describedObject", "apiVersion"),
    );
}

/** The metrics; those of an object that is being validated may be null. */
const metricsOf = (spec: Spec | undefined): readonly Metric[] => spec?.metrics ?? [];

const hasManySlashes = (version = ""): boolean => version.split("/").length > 2;

function checkVersion(version: string | undefined, needsGroup: boolean, report: FieldReport): void {
  if (hasManySlashes(version)) report.invalid(version, `unexpected GroupVersion string: ${version}`);
  else if (needsGroup && !/^[^/]+\//.test(version ?? ""))
    report.invalid(version ?? "", "apiVersion must specify API group");
}

const HPAScalingPolicy = struct(
  "HPAScalingPolicy",
  "A limit of the change of the number of replicas in a period.",
  {
    type: field(1, string, "Unit of `value`: Pods, or Percent of the current number.")
      .declaredRequired()
      .knownValues("Percent", "Pods"),
    value: field(
      2,
      int32,
      "Permitted change per period, in pods or percent; greater than 0.",
    ).declaredRequired(),
    periodSeconds: field(3, int32, "Length of the period in seconds, 1 to 1800.").declaredRequired(),
  },
);

/** Requires a tolerance that isn't negative. */
function tolerance(text: string, report: FieldReport): void {
  const quantity = quantityFrom(text);
  if (quantity !== undefined && quantity.nanos < 0n) {
    report.invalid(text, "must be greater than or equal to zero");
  }
}

const HPAScalingRules = struct(
  "HPAScalingRules",
  "Scaling rules of one direction.",
  {
    selectPolicy: field(
      1,
      string,
      "Selection among the policies: Max, Min, or Disabled for no scaling in this direction. Default: Max.",
    )
      .nullable()
      .knownValues("Disabled", "Max", "Min"),
    policies: field(2, list(HPAScalingPolicy), "Limits of the change per period; at least one.").atomic(),
    stabilizationWindowSeconds: field(
      3,
      int32,
      "Seconds of past recommendations that are considered, 0 to 3600. Default: 0 up, 300 down.",
    ).nullable(),
  },
  {
    check: checkScalingRules,
    later: () => ({
      tolerance: since(
        "1.33",
        field(
          4,
          quantity,
          "Deviation of the metric from its target below which nothing is scaled, as a fraction such as 0.1.",
        )
          .nullable()
          .check(tolerance)
          .gated("HPAConfigurableTolerance"),
      ),
    }),
  },
);

export const HorizontalPodAutoscalerBehavior = struct(
  "HorizontalPodAutoscalerBehavior",
  "Scaling rules for scaling up and down.",
  {
    scaleUp: field(1, HPAScalingRules, "Rules for scaling up.").nullable(),
    scaleDown: field(2, HPAScalingRules, "Rules for scaling down.").nullable(),
  },
  { fill: fillBehavior },
);

const HorizontalPodAutoscalerSpec = struct(
  "HorizontalPodAutoscalerSpec",
  "Desired behavior of an autoscaler: target, limits and metrics.",
  {
    scaleTargetRef: field(1, CrossVersionObjectReference, "The object to scale.").required(),
    minReplicas: field(2, int32, "Minimum number of replicas. Default: 1.").nullable().unpublishedDefault(1),
    maxReplicas: field(3, int32, "Maximum number of replicas.").required(),
    metrics: field(4, list(MetricSpec), "Metrics; the one that requires the most replicas decides.").atomic(),
    behavior: field(5, HorizontalPodAutoscalerBehavior, "Rules for scaling up and down.").nullable(),
  },
  {
    fill(copy) {
      copy.metrics ??= [defaultMetric()];
    },
  },
);

const HorizontalPodAutoscalerCondition = struct(
  "HorizontalPodAutoscalerCondition",
  "A condition of an autoscaler.",
  {
    type: field(1, string, "Type of the condition, such as AbleToScale.")
      .declaredRequired()
      .knownValues("AbleToScale", "ScalingActive", "ScalingLimited"),
    status: field(2, string, "Status of the condition: True, False or Unknown.")
      .declaredRequired()
      .knownValues("False", "True", "Unknown"),
    lastTransitionTime: field(3, time, "Time of the last change of `status`.").emitEmpty(),
    reason: field(4, string, "Machine-readable reason in CamelCase."),
    message: field(5, string, "Human-readable details."),
  },
  {
    later: () => ({
      observedGeneration: since(
        "1.37",
        field(6, int64, "Generation for which the condition was set.").nullable(),
      ),
    }),
  },
);

const HorizontalPodAutoscalerStatus = struct(
  "HorizontalPodAutoscalerStatus",
  "Current state of an autoscaler.",
  {
    observedGeneration: field(1, int64, "Latest generation that the autoscaler has observed.").nullable(),
    lastScaleTime: field(2, time, "Time of the last change of the number of replicas.").nullable(),
    currentReplicas: field(3, int32, "Current number of replicas, as last observed.").check(nonNegative),
    desiredReplicas: field(4, int32, "Desired number of replicas, as last computed.")
      .declaredRequired()
      .check(nonNegative),
    currentMetrics: field(5, list(MetricStatus), "Last observed values of the metrics.").emitEmpty().atomic(),
    conditions: field(
      6,
      list(HorizontalPodAutoscalerCondition),
      "Conditions of the object, at most one per type.",
    )
      .mapBy("type")
      .patchMerge("type"),
  },
);

interface Scaled extends ApiObject {
  readonly spec?: Static<typeof HorizontalPodAutoscalerSpec> | undefined;
  readonly status?: Static<typeof HorizontalPodAutoscalerStatus> | undefined;
}

function targetsColumn(named: boolean): Column<Scaled> {
  return {
    name: "Targets",
    type: "string",
    doc: "Current and target values of the metrics.",
    cell: ({ spec, status }) => targetsText(spec?.metrics ?? [], status?.currentMetrics ?? [], named),
  };
}

export const HorizontalPodAutoscaler = kind({
  name: "HorizontalPodAutoscaler",
  resource: "horizontalpodautoscalers",
  singular: "horizontalpodautoscaler",
  shortNames: ["hpa"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Scales another object by metrics.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the autoscaler.").emitEmpty(),
    spec: field(2, HorizontalPodAutoscalerSpec, "Desired behavior of the autoscaler.").emitEmpty(),
    status: field(3, HorizontalPodAutoscalerStatus, "Current state of the autoscaler.").emitEmpty(),
  },
  prepareCreate({ metadata }, context) {
    if (context.enabled("HPAGeneration")) metadata.generation = 1;
  },
  prepareUpdate({ metadata, spec }, live, context) {
    if (!context.enabled("HPAGeneration") || isDeepStrictEqual(spec, live.spec)) return;
    metadata.generation = Number(live.metadata.generation ?? 0) + 1;
  },
  validate({ spec }, report, context) {
    if (spec !== undefined) checkReplicas(spec, report.at("spec"), context);
  },
  validateCreate({ spec }, report, context) {
    checkVersions(spec, undefined, report.at("spec"), context);
    const lowest = context.enabled("HPAScaleToZero") ? 0 : 1;
    checkLowest(spec?.minReplicas, lowest, report.at("spec", "minReplicas"));
  },
  validateUpdate({ spec }, live, report, context) {
    checkVersions(spec, live.spec, report.at("spec"), context);
    const lowest = context.enabled("HPAScaleToZero") || live.spec?.minReplicas === 0 ? 0 : 1;
    checkLowest(spec?.minReplicas, lowest, report.at("spec", "minReplicas"));
  },
  status: {
    initial: () => ({ desiredReplicas: 0, currentMetrics: null as unknown as [] }),
  },
  columns: [
    nameColumn,
    {
      name: "Reference",
      type: "string",
      doc: "The object to scale.",
      cell: ({ spec }) => referenceText(spec?.scaleTargetRef),
    },
    until("1.30", targetsColumn(false)),
    since("1.30", targetsColumn(true)),
    {
      name: "MinPods",
      type: "string",
      doc: "Minimum number of replicas.",
      cell: ({ spec }) => (spec?.minReplicas === undefined ? "<unset>" : String(spec.minReplicas)),
    },
    {
      name: "MaxPods",
      type: "string",
      doc: "Maximum number of replicas.",
      cell: ({ spec }) => spec?.maxReplicas ?? 0,
    },
    {
      name: "Replicas",
      type: "string",
      doc: "Current number of replicas, as last observed.",
      cell: ({ status }) => status?.currentReplicas ?? 0,
    },
    ageColumn,
  ],
});
export type HorizontalPodAutoscaler = ObjectFor<typeof HorizontalPodAutoscaler>;
