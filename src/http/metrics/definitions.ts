import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { admissionMetrics } from "./admission-metrics.ts";
import { aggregationMetrics } from "./aggregation-metrics.ts";
import { certificateMetrics } from "./certificate-metrics.ts";
import { encryptionMetrics } from "./encryption-metrics.ts";
import { flowMetrics } from "./flow-metrics.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import { configurationMetrics } from "./configuration-metrics.ts";
import { impersonationMetrics } from "./impersonation-metrics.ts";
import { manifestMetrics } from "./manifest-metrics.ts";
import { podSecurityMetrics } from "./pod-security-metrics.ts";
import { queueMetrics } from "./queue-metrics.ts";
import { productMetrics } from "./product-metrics.ts";
import { policyMetrics } from "./policy-metrics.ts";
import { webhookMetrics } from "./webhook-metrics.ts";

/** Name of the gauge of open watches with a shard selector. */
export const shardedWatches = "apiserver_watch_shards_total";

/** When the process started. */
export const processStartTime: MetricDefinition = {
  name: "process_start_time_seconds",
  help: "Start time of the process in seconds since 1970.",
  type: "gauge",
  stability: "ALPHA",
  labels: [],
  combined: "min",
};

const request = ["group", "version", "resource", "subresource", "scope", "component"] as const;
const secondsBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const bytesBuckets = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/** Returns the definitions of all metrics. */
export function metricDefinitions(vocabulary: Vocabulary): readonly MetricDefinition[] {
  return [
    ...requestMetrics,
    ...authenticationMetrics,
    ...impersonationMetrics,
    ...admissionMetrics,
    ...aggregationMetrics,
    ...webhookMetrics,
    ...policyMetrics,
    ...podSecurityMetrics,
    ...configurationMetrics,
    ...manifestMetrics,
    ...encryptionMetrics,
    ...certificateMetrics(vocabulary),
    ...auditMetrics,
    ...flowMetrics,
    ...queueMetrics,
    ...storeMetrics,
    ...productMetrics(vocabulary),
    ...processMetrics,
  ];
}

const auditMetrics: readonly MetricDefinition[] = [
  {
    name: "apiserver_audit_event_total",
    help: "Audit events that were passed to the backends.",
    type: "counter",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "apiserver_audit_error_total",
    help: "Audit events that were lost or truncated, by plugin.",
    type: "counter",
    stability: "ALPHA",
    labels: ["plugin"],
  },
  {
    name: "apiserver_audit_level_total",
    help: "Requests by audit level.",
    type: "counter",
    stability: "ALPHA",
    labels: ["level"],
  },
  {
    name: "apiserver_audit_requests_rejected_total",
    help: "Requests rejected because their audit event could not be recorded.",
    type: "counter",
    stability: "ALPHA",
    labels: [],
  },
];

const requestMetrics: readonly MetricDefinition[] = [
  {
    name: "apiserver_request_total",
    help: "Requests by verb, resource and status code.",
    type: "counter",
    stability: "STABLE",
    labels: ["verb", "dry_run", ...request, "code"],
  },
  {
    name: "apiserver_request_duration_seconds",
    help: "Duration of requests that aren't long-running.",
    type: "histogram",
    stability: "STABLE",
    labels: ["verb", "dry_run", ...request],
    buckets: secondsBuckets,
  },
  {
    name: "apiserver_response_sizes",
    help: "Size of responses to requests that aren't long-running.",
    type: "histogram",
    stability: "STABLE",
    labels: ["verb", ...request],
    buckets: bytesBuckets,
  },
  {
    name: "apiserver_current_inflight_requests",
    help: "Requests in progress, by whether they are mutating.",
    type: "gauge",
    stability: "STABLE",
    labels: ["request_kind"],
  },
  {
    name: "apiserver_longrunning_requests",
    help: "Long-running requests in progress, such as watches.",
    type: "gauge",
    stability: "STABLE",
    labels: ["verb", ...request],
  },
  {
    name: "apiserver_requested_deprecated_apis",
    help: "Deprecated versions that were requested, with the release that removes them.",
    type: "gauge",
    stability: "STABLE",
    labels: ["group", "version", "resource", "subresource", "removed_release"],
    combined: "max",
    isRecord: true,
  },
  {
    name: shardedWatches,
    help: "Open watches with a shard selector, by resource type.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["group", "resource"],
    since: "1.36",
  },
  {
    name: "apiserver_watch_events_total",
    help: "Events sent to watchers.",
    type: "counter",
    stability: "ALPHA",
    labels: ["group", "version", "kind"],
  },
  {
    name: "apiserver_watch_events_bytes_total",
    help: "Bytes of the events sent to watchers.",
    type: "counter",
    stability: "ALPHA",
    labels: ["group", "version", "kind"],
  },
];

const alphaCounter = (name: string, help: string, ...labels: readonly string[]): MetricDefinition => ({
  name,
  help,
  type: "counter",
  stability: "ALPHA",
  labels,
});

const authenticationMetrics: readonly MetricDefinition[] = [
  alphaCounter(
    "authenticated_user_requests",
    "Requests by user; most users are counted by class.",
    "username",
  ),
  alphaCounter("authentication_attempts", "Authentication attempts by result.", "result"),
  {
    name: "authentication_duration_seconds",
    help: "Duration of authentication, except for users known from the connection.",
    type: "histogram",
    stability: "ALPHA",
    labels: ["result"],
    buckets: [
      0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192,
      16.384,
    ],
  },
  alphaCounter(
    "authentication_token_cache_request_total",
    "Lookups in token caches, by hit or miss.",
    "status",
  ),
  alphaCounter("serviceaccount_valid_tokens_total", "Uses of pod tokens within the requested lifetime."),
  alphaCounter("serviceaccount_stale_tokens_total", "Uses of pod tokens after the requested lifetime."),
  alphaCounter(
    "serviceaccount_legacy_tokens_total",
    "Uses of legacy service account tokens, which have no audience.",
  ),
];

const storeMetrics: readonly MetricDefinition[] = [
  {
    name: "apiserver_storage_objects",
    help: "Stored objects by resource type; -1 while the store is unavailable.",
    type: "gauge",
    stability: "STABLE",
    labels: ["resource"],
    combined: "max",
  },
  {
    name: "apiserver_storage_revision",
    help: "The latest revision of the store.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
    combined: "max",
  },
  {
    name: "apiserver_storage_floor_revision",
    help: "The oldest revision whose history is kept; compaction raises it.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
    combined: "max",
  },
  {
    name: "apiserver_storage_db_total_size_in_bytes",
    help: "The size of the embedded store's file.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["endpoint"],
    combined: "max",
  },
  {
    name: "apiserver_storage_db_free_size_in_bytes",
    help: "Free bytes in the embedded store's file.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["endpoint"],
    combined: "max",
  },
];

const processMetrics: readonly MetricDefinition[] = [
  {
    name: "process_cpu_seconds_total",
    help: "User and system CPU time of the process in seconds.",
    type: "counter",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "process_resident_memory_bytes",
    help: "Resident memory of the process.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "process_heap_bytes",
    help: "Used heap memory of the process.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "process_open_fds",
    help: "Open file descriptors of the process.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "process_max_fds",
    help: "Maximum number of open file descriptors of the process.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  processStartTime,
];
