import type { CheckOutcome, DeferredPolicyObserver } from "../../admission/policies/policy-observer.ts";
import type { Binding } from "../../admission/policies/policy.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet, Sample } from "./metric-set.ts";

const checks = "apiserver_validating_admission_policy_check_total";
const duration = "apiserver_validating_admission_policy_check_duration_seconds";
const labels = ["enforcement_action", "policy", "policy_binding", "state"];

/** Metrics of validating admission policies, with the names of the reference. */
export const policyMetrics: readonly MetricDefinition[] = [
  {
    name: checks,
    help: "Expressions of validating policies that were evaluated, by policy, binding, what was done and whether it failed.",
    type: "counter",
    stability: "ALPHA",
    labels,
  },
  {
    name: duration,
    help: "Seconds that an expression of a validating policy took, by policy, binding, what was done and whether it failed.",
    type: "histogram",
    stability: "ALPHA",
    labels,
    buckets: [0.0000005, 0.001, 0.01, 0.1, 1],
  },
];

/** Action and state in the terms of the reference. */
const named: Readonly<Record<CheckOutcome, readonly [action: string, state: string]>> = {
  held: ["allow", "active"],
  denied: ["deny", "active"],
  "failed open": ["allow", "error"],
  failed: ["deny", "error"],
};

interface Samples {
  readonly count: Sample;
  readonly time: Sample;
}

/** Connects the counters of validating policies with the metrics. */
export function showPolicies(metrics: MetricSet, observer: DeferredPolicyObserver): void {
  const byBinding = new WeakMap<Binding, Map<CheckOutcome, Samples>>();
  observer.show({
    checked(policy, binding, outcome, seconds) {
      let samples = byBinding.get(binding);
      if (samples === undefined) byBinding.set(binding, (samples = new Map()));
      let sample = samples.get(outcome);
      if (sample === undefined) {
        const [action, state] = named[outcome];
        const values = [action, policy.name, binding.name, state];
        sample = { count: metrics.sample(checks, ...values), time: metrics.sample(duration, ...values) };
        samples.set(outcome, sample);
      }
      sample.count.inc();
      sample.time.observe(seconds);
    },
  });
}
