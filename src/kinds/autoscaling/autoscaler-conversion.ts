import { type Domain, subdomain } from "../../vocabulary/names.ts";
import { struct } from "./v1.ts";
import { parseEmbeddedJson } from "../../base/json/embedded.ts";
import type { KindContext } from "../../schema/context.ts";
import { decode, TypeFault } from "../../schema/decode.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { field, list, type Static, type StructType, int32, int64, time } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import {
  HorizontalPodAutoscalerBehavior,
  type HorizontalPodAutoscaler,
} from "./horizontal-pod-autoscaler.ts";
import { HorizontalPodAutoscalerCondition, MetricSpec, MetricStatus } from "./metric-annotations.ts";
import { metricFromOld, metricToOld, statusFromOld, statusToOld } from "./metric-conversion.ts";
import type { MetricSpec as NewMetric } from "./metric-spec.ts";
import type { MetricStatus as NewStatus } from "./metric-status.ts";
import { defaultMetric } from "./scaling-rules.ts";
import { CrossVersionObjectReference } from "./object-reference-v1.ts";

export const HorizontalPodAutoscalerSpec = struct(
  "HorizontalPodAutoscalerSpec",
  "Desired behavior of an autoscaler: target, limits and CPU utilization.",
  {
    scaleTargetRef: field(1, CrossVersionObjectReference, "The object to scale.").required(),
    minReplicas: field(2, int32, "Minimum number of replicas. Default: 1.").nullable().unpublishedDefault(1),
    maxReplicas: field(3, int32, "Maximum number of replicas.").required(),
    targetCPUUtilizationPercentage: field(
      4,
      int32,
      "Target average CPU utilization, as a percentage of the requested CPU.",
    ).nullable(),
  },
);

export const HorizontalPodAutoscalerStatus = struct(
  "HorizontalPodAutoscalerStatus",
  "Current state of an autoscaler.",
  {
    observedGeneration: field(1, int64, "Latest generation that the autoscaler has observed.").nullable(),
    lastScaleTime: field(2, time, "Time of the last change of the number of replicas.").nullable(),
    currentReplicas: field(3, int32, "Current number of replicas, as last observed.").declaredRequired(),
    desiredReplicas: field(4, int32, "Desired number of replicas, as last computed.").declaredRequired(),
    currentCPUUtilizationPercentage: field(
      5,
      int32,
      "Current average CPU utilization, as a percentage of the requested CPU.",
    ).nullable(),
  },
);

/** An autoscaler in version v1, for the conversion. */
type OldAutoscaler = ApiObject & {
  readonly spec?: Static<typeof HorizontalPodAutoscalerSpec> | undefined;
  readonly status?: Static<typeof HorizontalPodAutoscalerStatus> | undefined;
};

/*
 * Version v1 knows one metric, the average use of processors. The others, what was seen of them, the conditions and the
 * behavior travel in annotations, so that an object read and written in v1 loses nothing. Annotations that can't be read are
 * ignored, as the reference does.
 */

/** Content of the annotations; each value is decoded as the only member of an object of its type. */
const Metrics = struct("Metrics", "", { value: field(undefined, list(MetricSpec), "") });
const CurrentMetrics = struct("CurrentMetrics", "", { value: field(undefined, list(MetricStatus), "") });
const Conditions = struct("Conditions", "", {
  value: field(undefined, list(HorizontalPodAutoscalerCondition), ""),
});
const Behavior = struct("Behavior", "", { value: field(undefined, HorizontalPodAutoscalerBehavior, "") });

type Annotations = Readonly<Record<string, string>>;

function annotationNames(domain: Domain) {
  const prefix = subdomain(domain, "autoscaling.alpha");
  return {
    metrics: `${prefix}/metrics`,
    currentMetrics: `${prefix}/current-metrics`,
    conditions: `${prefix}/conditions`,
    behavior: `${prefix}/behavior`,
  };
}

function read<T extends StructType>(type: T, text: string | undefined): Static<T> | undefined {
  if (text === undefined) return undefined;
  try {
    return decode(type, { value: withSmallNames(parseEmbeddedJson(text)) }).value as Static<T>;
  } catch (error) {
    if (error instanceof TypeFault || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns all metrics of a v1 object, in the form of v2. */
function metricsOf(spec: OldAutoscaler["spec"], text: string | undefined): NewMetric[] {
  const metrics = (read(Metrics, text)?.value ?? []).map(metricFromOld);
  const percent = spec?.targetCPUUtilizationPercentage;
  if (percent !== undefined) metrics.push(processorMetric(percent));
  return metrics.length === 0 ? [defaultMetric()] : metrics;
}

function processorMetric(averageUtilization: number): NewMetric {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

function currentMetricsOf(
  status: OldAutoscaler["status"],
  text: string | undefined,
): NewStatus[] | undefined {
  const seen = read(CurrentMetrics, text)?.value;
  if (seen !== undefined) return seen.map(statusFromOld);
  const averageUtilization = status?.currentCPUUtilizationPercentage;
  if (averageUtilization === undefined) return undefined;
  return [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization } } }];
}

/** Returns the metrics that the table of a v1 object shows. */
export function shownMetrics(
  { metadata, spec, status }: OldAutoscaler,
  { domain }: Vocabulary,
): { readonly metrics: readonly NewMetric[]; readonly currentMetrics: readonly NewStatus[] } {
  const annotations: Annotations = metadata.annotations ?? {};
  const names = annotationNames(domain);
  return {
    metrics: metricsOf(spec, annotations[names.metrics]),
    currentMetrics: currentMetricsOf(status, annotations[names.currentMetrics]) ?? [],
  };
}

/** Converts a v1 object to v2. */
export function autoscalerToStored(object: ApiObject, { vocabulary }: KindContext): ApiObject {
  const { metadata, spec, status } = object as OldAutoscaler;
  const names = annotationNames(vocabulary.domain);
  const annotations: Annotations = metadata.annotations ?? {};
  const behavior = read(Behavior, annotations[names.behavior])?.value;
  const isEmpty = behavior?.scaleUp === undefined && behavior?.scaleDown === undefined;
  return {
    ...object,
    metadata: withAnnotations(metadata, names, {}),
    spec: {
      scaleTargetRef: spec?.scaleTargetRef,
      minReplicas: spec?.minReplicas,
      maxReplicas: spec?.maxReplicas,
      metrics: metricsOf(spec, annotations[names.metrics]),
      behavior: isEmpty ? undefined : behavior,
    },
    status: {
      observedGeneration: status?.observedGeneration,
      lastScaleTime: status?.lastScaleTime,
      currentReplicas: status?.currentReplicas,
      desiredReplicas: status?.desiredReplicas,
      currentMetrics: currentMetricsOf(status, annotations[names.currentMetrics]),
      conditions: read(Conditions, annotations[names.conditions])?.value,
    },
  };
}

/** Converts a v2 object to v1. */
export function autoscalerFromStored(object: ApiObject, { vocabulary }: KindContext): ApiObject {
  const { metadata, spec, status } = object as HorizontalPodAutoscaler;
  const names = annotationNames(vocabulary.domain);
  const added: Record<string, string> = {};
  const metrics = spec?.metrics ?? [];
  // The last CPU metric becomes the v1 field; converted back it is the last one again.
  const shown = metrics.findLastIndex((metric) => processorUse(metric) !== undefined);
  const others = metrics.filter((_, index) => index !== shown);
  if (others.length > 0) added[names.metrics] = textOf(Metrics, others.map(metricToOld));
  const seen = status?.currentMetrics ?? [];
  if (seen.length > 0) added[names.currentMetrics] = textOf(CurrentMetrics, seen.map(statusToOld));
  const conditions = status?.conditions ?? [];
  if (conditions.length > 0) added[names.conditions] = textOf(Conditions, conditions);
  if (spec?.behavior !== undefined) added[names.behavior] = behaviorText(spec.behavior);
  return {
    ...object,
    metadata: withAnnotations(metadata, names, added),
    spec: {
      scaleTargetRef: spec?.scaleTargetRef,
      minReplicas: spec?.minReplicas,
      maxReplicas: spec?.maxReplicas,
      targetCPUUtilizationPercentage: shown === -1 ? undefined : processorUse(metrics[shown]!),
    },
    status: {
      observedGeneration: status?.observedGeneration,
      lastScaleTime: status?.lastScaleTime,
      currentReplicas: status?.currentReplicas,
      desiredReplicas: status?.desiredReplicas,
      currentCPUUtilizationPercentage: firstOf(seen.map(seenProcessorUse)),
    },
  };
}

/** Returns the percentage of a metric that v1 can represent. */
function processorUse({ type, resource }: NewMetric): number | undefined {
  return type === "Resource" && resource?.name === "cpu" ? resource.target.averageUtilization : undefined;
}

function seenProcessorUse({ type, resource }: NewStatus): number | undefined {
  return type === "Resource" && resource?.name === "cpu" ? resource.current.averageUtilization : undefined;
}

function firstOf(values: readonly (number | undefined)[]): number | undefined {
  return values.find((value) => value !== undefined);
}

function textOf(type: StructType, value: unknown): string {
  return JSON.stringify(decode(type, { value }).value["value"]);
}

/** Returns metadata in which the annotations of the conversion are replaced. */
function withAnnotations(
  metadata: ApiObject["metadata"],
  names: Readonly<Record<string, string>>,
  added: Annotations,
): ApiObject["metadata"] {
  const own = new Set(Object.values(names));
  const otherAnnotations = Object.entries(metadata.annotations ?? {}).filter(([name]) => !own.has(name));
  const { annotations: _, ...rest } = metadata;
  const annotations = { ...Object.fromEntries(otherAnnotations), ...added };
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
}

/*
 * The annotation that keeps the behavior of an autoscaler in version v1 has the reference's own spelling: every member begins
 * with a capital, and what is absent is null. It is read in any spelling.
 */

interface Rules {
  readonly selectPolicy?: string | undefined;
  readonly policies?:
    readonly { readonly type: string; readonly value: number; readonly periodSeconds: number }[] | undefined;
  readonly stabilizationWindowSeconds?: number | undefined;
}

/** Encodes the behavior as the text of the annotation. */
function behaviorText(behavior: {
  readonly scaleUp?: Rules | undefined;
  readonly scaleDown?: Rules | undefined;
}): string {
  return JSON.stringify({ ScaleUp: capitals(behavior.scaleUp), ScaleDown: capitals(behavior.scaleDown) });
}

function capitals(rules: Rules | undefined): object | null {
  if (rules === undefined) return null;
  const policies = rules.policies?.map(({ type, value, periodSeconds }) => ({
    Type: type,
    Value: value,
    PeriodSeconds: periodSeconds,
  }));
  return {
    StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
    SelectPolicy: rules.selectPolicy ?? null,
    Policies: policies ?? null,
  };
}

/** Returns a JSON value whose member names start with a lower-case letter. */
function withSmallNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSmallNames);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.slice(0, 1).toLowerCase() + name.slice(1),
      withSmallNames(member),
    ]),
  );
}
