import { isRefusal } from "../../authentication/refusal.ts";
import type { RequestCounter } from "../transport/connection.ts";
import type { MetricSet, Sample } from "./metric-set.ts";

/** Users that are counted by name, as the reference does; there may be any number of others. */
const wellKnown = new Set(["admin", "client"]);

/** Counts who is recognized, and how long that takes. */
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

  /** A method is going to be asked. Milliseconds, for the two calls of which one follows. */
  begin(): number {
    return this.nowMs();
  }

  /** The caller was recognized. Their requests' sample, for {@link again}. */
  recognized(user: string, startMs: number): Sample {
    this.times.success.observe((this.nowMs() - startMs) / 1000);
    const requests = this.metrics.sample("authenticated_user_requests", classOf(user));
    this.again(requests);
    return requests;
  }

  /** The caller is the one that was recognized before on this connection. */
  again(requests: RequestCounter): void {
    this.attempts.success.inc();
    requests.inc();
  }

  /** Nobody was recognized. */
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
