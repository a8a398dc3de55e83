import type { MetricValues } from "../../http/metrics/metric-set.ts";

/** A worker asks its parent for the metrics of the other workers, or the parent asks a worker for its own. */
export interface MetricRequest {
  readonly kind: "metrics request";
  readonly id: number;
}

/** The answer to a {@link MetricRequest}, with the metrics of each worker that answered in time. */
export interface MetricAnswer {
  readonly kind: "metrics answer";
  readonly id: number;
  readonly metrics: readonly MetricValues[];
}

export function isRequest(message: unknown): message is MetricRequest {
  return kindOf(message) === "metrics request";
}

export function isAnswer(message: unknown): message is MetricAnswer {
  return kindOf(message) === "metrics answer";
}

function kindOf(message: unknown): unknown {
  return typeof message === "object" && message !== null && "kind" in message ? message.kind : undefined;
}
