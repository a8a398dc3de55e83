import type { DeferredWebhookObserver } from "../../admission/webhooks/observer.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

const duration = "apiserver_admission_webhook_admission_duration_seconds";
const rejections = "apiserver_admission_webhook_rejection_count";
const failedOpen = "apiserver_admission_webhook_fail_open_count";
const requests = "apiserver_admission_webhook_request_total";

/** Metrics of admission webhooks, with the names of the reference. */
export const webhookMetrics: readonly MetricDefinition[] = [
  {
    name: duration,
    help: "Seconds that a webhook took, by its name, its type, the operation and whether it rejected the request.",
    type: "histogram",
    stability: "STABLE",
    labels: ["name", "operation", "rejected", "type"],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
  },
  {
    name: rejections,
    help: "Requests rejected by a webhook or because it failed, by code and type of error.",
    type: "counter",
    stability: "ALPHA",
    labels: ["error_type", "name", "operation", "rejection_code", "type"],
  },
  {
    name: failedOpen,
    help: "Requests admitted although a webhook failed, by its name and type.",
    type: "counter",
    stability: "ALPHA",
    labels: ["name", "type"],
  },
  {
    name: requests,
    help: "Calls of webhooks, by name, type, operation, code and whether the request was rejected.",
    type: "counter",
    stability: "ALPHA",
    labels: ["code", "name", "operation", "rejected", "type"],
  },
];

/** Connects the counters of webhooks with the metrics. */
export function showWebhooks(metrics: MetricSet, observer: DeferredWebhookObserver): void {
  observer.show({
    called({ webhook, type, operation, seconds, rejected, code, errorType }) {
      const isRejected = String(rejected);
      metrics.sample(duration, webhook, operation, isRejected, type).observe(seconds);
      metrics.sample(requests, String(code), webhook, operation, isRejected, type).inc();
      if (rejected) metrics.sample(rejections, errorType, webhook, operation, String(code), type).inc();
    },
    failedOpen(webhook, type) {
      metrics.sample(failedOpen, webhook, type).inc();
    },
  });
}
