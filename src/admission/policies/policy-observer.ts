import type { Binding, Policy } from "./policy.ts";

/** Result of an expression: true, false, or an error under either failure policy. */
export type CheckOutcome = "held" | "denied" | "failed open" | "failed";

/** Receives the evaluations of validating policies, for metrics. */
export interface PolicyObserver {
  /** Called for each evaluated expression; must not allocate. */
  checked(policy: Policy, binding: Binding, outcome: CheckOutcome, seconds: number): void;
}

/** Forwards to an observer that is set later, as metrics are created after admission. */
export class DeferredPolicyObserver implements PolicyObserver {
  private observer: PolicyObserver | undefined;

  /** Sets the observer. */
  show(observer: PolicyObserver): void {
    this.observer = observer;
  }

  checked(policy: Policy, binding: Binding, outcome: CheckOutcome, seconds: number): void {
    this.observer?.checked(policy, binding, outcome, seconds);
  }
}
