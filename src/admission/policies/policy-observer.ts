import type { MutationErrorType } from "./mutation-failure.ts";
import type { Binding, Policy, PolicyBase } from "./policy.ts";

/** Result of an expression: true, false, or an error under either failure policy. */
export type CheckOutcome = "held" | "denied" | "failed open" | "failed";

/** Receives the evaluations of validating policies, for metrics. */
export interface PolicyObserver {
  /** Called for each evaluated expression; must not allocate. */
  checked(policy: Policy, binding: Binding, outcome: CheckOutcome, seconds: number): void;
}

/** Receives the evaluations of mutating policies, for metrics. */
export interface MutationObserver {
  /** Called for each mutation; must not allocate. */
  mutated(policy: PolicyBase, binding: Binding, errorType: MutationErrorType, seconds: number): void;
}

/** Forwards to an observer that is set later, as metrics are created after admission. */
export class DeferredPolicyObserver implements PolicyObserver, MutationObserver {
  private observer: (PolicyObserver & MutationObserver) | undefined;

  /** Sets the observer. */
  show(observer: PolicyObserver & MutationObserver): void {
    this.observer = observer;
  }

  checked(policy: Policy, binding: Binding, outcome: CheckOutcome, seconds: number): void {
    this.observer?.checked(policy, binding, outcome, seconds);
  }

  mutated(policy: PolicyBase, binding: Binding, errorType: MutationErrorType, seconds: number): void {
    this.observer?.mutated(policy, binding, errorType, seconds);
  }
}
