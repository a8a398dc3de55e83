import type { Binding, Policy } from "./policy.ts";

/** How an expression came out: it held, it didn't, or it couldn't be evaluated. */
export type CheckOutcome = "held" | "denied" | "failed open" | "failed";

/** Takes what is counted of validating policies. */
export interface PolicyObserver {
  /** An expression of a policy was evaluated; hot, so nothing may be made for each call. */
  checked(policy: Policy, binding: Binding, outcome: CheckOutcome, seconds: number): void;
}

/** An observer that can be given later: metrics are made after admission. */
export class PolicyFigures implements PolicyObserver {
  private observer: PolicyObserver | undefined;

  /** Gives everything to an observer from now on. */
  show(observer: PolicyObserver): void {
    this.observer = observer;
  }

  checked(policy: Policy, binding: Binding, outcome: CheckOutcome, seconds: number): void {
    this.observer?.checked(policy, binding, outcome, seconds);
  }
}
