import { isRefusal } from "../../authentication/refusal.ts";
import type { RequestCounter } from "../transport/connection.ts";
import type { MetricSet, Sample } from "./metric-set.ts";

/**
 * Users that are counted by name, as in the reference; others are counted by class, because their number is
 * unbounded.
 */
const wellKnown = new Set(["admin", "client"]);

/** Counts authentication attempts and their durations. */
export class AuthenticationMetrics {
  private readonly attempts: Record<"success" | "failure" | "error", Sample>;
  private readonly times: Record<"success" | "failure" | "error", Sample>;

  constructor(
    private readonly metrics: MetricSet,
    private readonly nowMs: () => number,
  ) {
    const samples = (name: string) => ({
      success: metrics.sample(name, "success"),
      failure: metrics.sample(name, "failure"),
      error: metrics.sample(name, "error"),
    });
    this.attempts = samples("authentication_attempts");
    this.times = samples("authentication_duration_seconds");
  }

  /** Starts an attempt; returns the time in milliseconds for {@link recognized} or {@link refused}. */
  begin(): number {
    return this.nowMs();
  }

  /** Records a successful attempt; returns the request counter of the user for {@link again}. */
  recognized(user: string, startMs: number): Sample {
    this.times.success.observe((this.nowMs() - startMs) / 1000);
    const requests = this.metrics.sample("authenticated_user_requests", classOf(user));
    this.again(requests);
    return requests;
  }

  /** Counts a request of the user who was authenticated before on this connection. */
  again(requests: RequestCounter): void {
    this.attempts.success.inc();
    requests.inc();
  }

  /** Records a failed attempt. */
  refused(error: unknown, startMs: number): void {
    const result = isRefusal(error) ? "failure" : "error";
    this.attempts[result].inc();
    this.times[result].observe((this.nowMs() - startMs) / 1000);
  }
}

function classOf(user: string): string {
  if (wellKnown.has(user)) return user;
  return user.includes("@") ? "email_id" : "other";
}
