import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { admissionMetrics } from "./admission-metrics.ts";
import { aggregationMetrics } from "./aggregation-metrics.ts";
import { flowMetrics } from "./flow-metrics.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import { podSecurityMetrics } from "./pod-security-metrics.ts";
import { queueMetrics } from "./queue-metrics.ts";
import { productMetrics } from "./product-metrics.ts";
import { policyMetrics } from "./policy-metrics.ts";
import { webhookMetrics } from "./webhook-metrics.ts";

const request = ["group", "version", "resource", "subresource", "scope", "component"] as const;
const secondsBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const bytesBuckets = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/** Every metric of a server, under the names that the field knows. */
export function metricDefinitions(vocabulary: Vocabulary): readonly MetricDefinition[] {
  return [
    ...requestMetrics,
    ...authenticationMetrics,
    ...admissionMetrics,
    ...aggregationMetrics,
    ...webhookMetrics,
    ...policyMetrics,
    ...podSecurityMetrics,
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
    help: "Events that were recorded for the audit and given to its backends.",
    type: "counter",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "apiserver_audit_error_total",
    help: "Events that were lost, or lost their objects, by the part of the audit in which that happened.",
    type: "counter",
    stability: "ALPHA",
    labels: ["plugin"],
  },
  {
    name: "apiserver_audit_level_total",
    help: "Requests by the level at which the policy has them recorded.",
    type: "counter",
    stability: "ALPHA",
    labels: ["level"],
  },
  {
    name: "apiserver_audit_requests_rejected_total",
    help: "Requests that weren't served because that they came couldn't be recorded.",
    type: "counter",
    stability: "ALPHA",
    labels: [],
  },
];

const requestMetrics: readonly MetricDefinition[] = [
  {
    name: "apiserver_request_total",
    help: "Requests by what they asked for and the code of the answer.",
    type: "counter",
    stability: "STABLE",
    labels: ["verb", "dry_run", ...request, "code"],
  },
  {
    name: "apiserver_request_duration_seconds",
    help: "Time from a request to its answer, but for those that go on until somebody ends them.",
    type: "histogram",
    stability: "STABLE",
    labels: ["verb", "dry_run", ...request],
    buckets: secondsBuckets,
  },
  {
    name: "apiserver_response_sizes",
    help: "Bytes of answers as they are sent, but for those that go on until somebody ends them.",
    type: "histogram",
    stability: "STABLE",
    labels: ["verb", ...request],
    buckets: bytesBuckets,
  },
  {
    name: "apiserver_current_inflight_requests",
    help: "Requests being worked on now, by whether they change something.",
    type: "gauge",
    stability: "STABLE",
    labels: ["request_kind"],
  },
  {
    name: "apiserver_longrunning_requests",
    help: "Requests now under way that go on until somebody ends them, such as watches.",
    type: "gauge",
    stability: "STABLE",
    labels: ["verb", ...request],
  },
  {
    name: "apiserver_requested_deprecated_apis",
    help: "Deprecated versions that were asked for, with the release that no longer serves them.",
    type: "gauge",
    stability: "STABLE",
    labels: ["group", "version", "resource", "subresource", "removed_release"],
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
    "Requests by their user; those of most users are counted together.",
    "username",
  ),
  alphaCounter("authentication_attempts", "Requests by whether their caller was recognized.", "result"),
  {
    name: "authentication_duration_seconds",
    help: "Time that it took to recognize a caller, where that was not known from the connection.",
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
    "Tokens that were asked about in caches, by whether they were known.",
    "status",
  ),
  alphaCounter("serviceaccount_valid_tokens_total", "Uses of tokens of pods within the time asked for."),
  alphaCounter("serviceaccount_stale_tokens_total", "Uses of tokens of pods after the time asked for."),
  alphaCounter(
    "serviceaccount_legacy_tokens_total",
    "Uses of tokens of service accounts without an audience.",
  ),
];

const storeMetrics: readonly MetricDefinition[] = [
  {
    name: "apiserver_storage_objects",
    help: "Stored objects by resource type; -1 while the store can't be asked.",
    type: "gauge",
    stability: "STABLE",
    labels: ["resource"],
  },
  {
    name: "apiserver_storage_revision",
    help: "The latest revision of the store.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "apiserver_storage_floor_revision",
    help: "The revision from which on history is kept; compaction raises it.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "apiserver_storage_db_total_size_in_bytes",
    help: "The size of the embedded store's file.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["endpoint"],
  },
  {
    name: "apiserver_storage_db_free_size_in_bytes",
    help: "How much of the embedded store's file is free for what is written next.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["endpoint"],
  },
];

const processMetrics: readonly MetricDefinition[] = [
  {
    name: "process_cpu_seconds_total",
    help: "Processor time of the process, of user and system together.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "process_resident_memory_bytes",
    help: "Memory of the process that is in RAM.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "process_heap_bytes",
    help: "Memory of the process's heap that is in use.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "process_open_fds",
    help: "File descriptors that the process has open.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "process_max_fds",
    help: "File descriptors that the process may have open.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: "process_start_time_seconds",
    help: "When the process was started, in seconds since 1970.",
    type: "gauge",
    stability: "ALPHA",
    labels: [],
  },
];
