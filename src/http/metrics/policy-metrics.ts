import type { CheckOutcome, DeferredPolicyObserver } from "../../admission/policies/policy-observer.ts";
import type { MutationErrorType } from "../../admission/policies/mutation-failure.ts";
import type { Binding } from "../../admission/policies/policy.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet, Sample } from "./metric-set.ts";

const checks = "apiserver_validating_admission_policy_check_total";
const duration = "apiserver_validating_admission_policy_check_duration_seconds";
const labels = ["enforcement_action", "policy", "policy_binding", "state"];

const mutations = "apiserver_mutating_admission_policy_check_total";
const mutationDuration = "apiserver_mutating_admission_policy_check_duration_seconds";
const mutationLabels = ["policy", "policy_binding", "error_type"];

/** Metrics of admission policies, with the names of the reference. */
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
  {
    name: mutations,
    help: "Mutations of policies that were evaluated, by policy, binding and type of error.",
    type: "counter",
    stability: "ALPHA",
    labels: mutationLabels,
  },
  {
    name: mutationDuration,
    help: "Seconds that a mutation of a policy took, by policy, binding and type of error.",
    type: "histogram",
    stability: "ALPHA",
    labels: mutationLabels,
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
  const mutationsByBinding = new WeakMap<Binding, Map<MutationErrorType, Samples>>();
  observer.show({
    mutated(policy, binding, errorType, seconds) {
      let samples = mutationsByBinding.get(binding);
      if (samples === undefined) mutationsByBinding.set(binding, (samples = new Map()));
      let sample = samples.get(errorType);
      if (sample === undefined) {
        const values = [policy.name, binding.name, errorType];
        sample = {
          count: metrics.sample(mutations, ...values),
          time: metrics.sample(mutationDuration, ...values),
        };
        samples.set(errorType, sample);
      }
      sample.count.inc();
      sample.time.observe(seconds);
    },
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
