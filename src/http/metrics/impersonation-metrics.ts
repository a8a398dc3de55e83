import type { Attributes, Decision } from "../../authorization/authorizer.ts";
import type { AuthorizerChain } from "../../authorization/authorizer-chain.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

const attempts = "apiserver_impersonation_attempts";
const checks = "apiserver_impersonation_authorization_attempts";

const common = { stability: "ALPHA", labels: ["mode", "decision"], since: "1.36" } as const;
/** Upper bounds from a millisecond on, each twice the one before. */
const buckets = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);

/** Metrics of impersonation, with the names of the reference. They count with the gate ConstrainedImpersonation. */
export const impersonationMetrics: readonly MetricDefinition[] = [
  {
    ...common,
    name: `${attempts}_total`,
    help: "Requests with impersonation headers, by the mode that allowed it and decision.",
    type: "counter",
  },
  {
    ...common,
    name: `${attempts}_duration_seconds`,
    help: "Seconds to decide about impersonation, by the mode that allowed it and decision.",
    type: "histogram",
    buckets,
  },
  {
    ...common,
    name: `${checks}_total`,
    help: "Authorization checks for impersonation, by mode and decision.",
    type: "counter",
  },
  {
    ...common,
    name: `${checks}_duration_seconds`,
    help: "Seconds of an authorization check for impersonation, by mode and decision.",
    type: "histogram",
    buckets,
  },
];

/** Counts impersonation and the authorization checks that it needs. */
export class ImpersonationMetrics {
  constructor(
    private readonly metrics: MetricSet,
    private readonly nowMs: () => number,
  ) {}

  /** Starts an attempt or a check; returns the time in milliseconds. */
  begin(): number {
    return this.nowMs();
  }

  /** Records an attempt. @param mode the mode that allowed it; undefined if it was denied. */
  attempted(mode: string | undefined, startMs: number): void {
    this.record(attempts, mode ?? "", mode !== undefined, startMs);
  }

  /** Authorizes attributes and records the check. @throws as the authorizer */
  async authorize(authorizer: AuthorizerChain, attributes: Attributes, mode: string): Promise<Decision> {
    const startMs = this.nowMs();
    let isAllowed = false;
    try {
      const decision = await authorizer.authorize(attributes);
      isAllowed = decision.verdict === "allow";
      return decision;
    } finally {
      this.record(checks, mode, isAllowed, startMs);
    }
  }

  private record(name: string, mode: string, isAllowed: boolean, startMs: number): void {
    const decision = isAllowed ? "allowed" : "denied";
    this.metrics.sample(`${name}_total`, mode, decision).inc();
    const seconds = (this.nowMs() - startMs) / 1000;
    this.metrics.sample(`${name}_duration_seconds`, mode, decision).observe(seconds);
  }
}
