import { applies, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";

interface Policy {
  type: string;
  value: number;
  periodSeconds: number;
}

interface ScalingRules {
  selectPolicy?: string | undefined;
  policies?: Policy[] | undefined;
  stabilizationWindowSeconds?: number | undefined;
}

interface Spec {
  readonly minReplicas?: number | undefined;
  readonly maxReplicas: number;
  readonly metrics?: readonly { readonly type: string }[] | undefined;
}

const maxWindowSeconds = 3600;
const maxPeriodSeconds = 1800;

/** Returns the default metric of an autoscaler: 80 % of the requested CPU. */
export function defaultMetric() {
  return {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
  };
}

/** Fills in missing members of the scaling behavior. Changes the copy. */
export function fillBehavior(copy: {
  scaleUp?: ScalingRules | undefined;
  scaleDown?: ScalingRules | undefined;
}): void {
  const percent = { type: "Percent", value: 100, periodSeconds: 15 };
  const up = (copy.scaleUp ??= {});
  up.selectPolicy ??= "Max";
  up.policies ??= [{ type: "Pods", value: 4, periodSeconds: 15 }, { ...percent }];
  up.stabilizationWindowSeconds ??= 0;
  const down = (copy.scaleDown ??= {});
  down.selectPolicy ??= "Max";
  down.policies ??= [percent];
}

/** Checks the scaling rules of one direction. */
export function checkScalingRules(rules: ScalingRules, report: FieldReport): void {
  const { selectPolicy, policies = [], stabilizationWindowSeconds: seconds = 0 } = rules;
  const window = report.at("stabilizationWindowSeconds");
  if (seconds < 0) window.invalid(seconds, "must be greater than or equal to zero");
  if (seconds > maxWindowSeconds)
    window.invalid(seconds, `must be less than or equal to ${maxWindowSeconds}`);
  const choices = ["Disabled", "Max", "Min"];
  if (selectPolicy !== undefined && !choices.includes(selectPolicy)) {
    report.at("selectPolicy").notSupported(selectPolicy, choices);
  }
  if (policies.length === 0) report.at("policies").required("must specify at least one policy");
  for (const [index, policy] of policies.entries()) {
    if (report.full) return;
    checkPolicy(policy, report.at("policies", index));
  }
}

function checkPolicy({ type, value, periodSeconds }: Policy, report: FieldReport): void {
  if (type !== "Percent" && type !== "Pods") report.at("type").notSupported(type, ["Percent", "Pods"]);
  if (value <= 0) report.at("value").invalid(value, "must be greater than zero");
  if (periodSeconds <= 0) report.at("periodSeconds").invalid(periodSeconds, "must be greater than zero");
  if (periodSeconds > maxPeriodSeconds) {
    report.at("periodSeconds").invalid(periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`);
  }
}

/** Whether a maximum of 0 is reported as missing. */
const reportsMissing = applies(since("1.36"));

/** Checks the numbers of replicas against each other and against the metrics. */
export function checkReplicas(spec: Spec, report: FieldReport, context: KindContext): void {
  const { minReplicas, maxReplicas, metrics = [] } = spec;
  if (maxReplicas === 0 && reportsMissing(context))
    report.at("maxReplicas").required("must be set and greater than 0");
  else if (maxReplicas < 1) report.at("maxReplicas").invalid(maxReplicas, "must be greater than 0");
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    report.at("maxReplicas").invalid(maxReplicas, "must be greater than or equal to `minReplicas`");
  }
  // Only these metrics can scale up from zero pods.
  if (minReplicas === 0 && !metrics.some(({ type }) => type === "Object" || type === "External")) {
    report
      .at("metrics")
      .forbidden("must specify at least one Object or External metric to support scaling to zero replicas");
  }
}

/** Checks the minimum number of replicas. */
export function checkLowest(minReplicas: number | undefined, lowest: number, report: FieldReport): void {
  if (minReplicas === undefined || minReplicas >= lowest) return;
  report.invalid(minReplicas, `must be greater than or equal to ${lowest}`);
}
