import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { MetricDefinition } from "./metric-definition.ts";

/** Metrics that the reference doesn't have; they are prefixed with the name of the vocabulary. */
export function productMetrics({ name }: Vocabulary): readonly MetricDefinition[] {
  return [
    {
      name: `${name}_build_info`,
      help: "Always 1; the labels have the version and platform.",
      type: "gauge",
      stability: "ALPHA",
      labels: ["major", "minor", "git_version", "platform"],
      combined: "max",
    },
    {
      name: `${name}_feature_enabled`,
      help: "Whether a feature is on (1) or off (0).",
      type: "gauge",
      stability: "ALPHA",
      labels: ["name", "stage"],
      combined: "max",
    },
    {
      name: `${name}_defects_total`,
      help: "Exceptions that are bugs of the server, by where they were caught: request, event or process.",
      type: "counter",
      stability: "ALPHA",
      labels: ["source"],
    },
    {
      name: `${name}_backup_last_success_timestamp_seconds`,
      help: "When the newest backup of --backup-dir was made, in seconds since 1970; 0 if there is none.",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
      combined: "max",
    },
    {
      name: `${name}_backup_last_size_bytes`,
      help: "The size of the newest backup's data file.",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
      combined: "max",
    },
    ...connectionMetrics(name),
    ...selectorMetrics(name),
    ...traceMetrics(name),
  ];
}

/** Metrics of lists with selectors and of their indexes. */
function selectorMetrics(name: string): readonly MetricDefinition[] {
  return [
    {
      name: `${name}_selector_lists_total`,
      help: "Lists with an indexable selector, by method: from an index (index), or by reading all objects (scan).",
      type: "counter",
      stability: "ALPHA",
      labels: ["by"],
    },
    {
      name: `${name}_selector_indexes`,
      help: "Current number of indexes of labels and fields.",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_selector_index_bytes`,
      help: "Approximate memory of the indexes of labels and fields in bytes.",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_store_failed_writes_total`,
      help: "Writes to the embedded store that failed because the disk was full or the commit failed.",
      type: "counter",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_store_unsynced_age_seconds`,
      help: "Age of the oldest acknowledged write that isn't synced, if resources have a deferred sync (--durability).",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
      combined: "max",
    },
    {
      name: `${name}_selector_indexes_too_large_total`,
      help: "Indexes of labels and fields that weren't built or were dropped because of the memory limit; lists read all objects instead.",
      type: "counter",
      stability: "ALPHA",
      labels: [],
    },
  ];
}

/** Metrics of connections, bodies and response backlogs, and of rejections due to their limits. */
function connectionMetrics(name: string): readonly MetricDefinition[] {
  return [
    {
      name: `${name}_request_bodies_refused_total`,
      help: "Request bodies that were rejected because the limit of the user (caller) or of the server (server) is reached.",
      type: "counter",
      stability: "ALPHA",
      labels: ["reason"],
    },
    {
      name: `${name}_unread_connections_ended_total`,
      help: "Connections closed because of unread responses, by the limit that was exceeded: connection, user (caller) or server.",
      type: "counter",
      stability: "ALPHA",
      labels: ["reason"],
    },
    {
      name: `${name}_backend_connections`,
      help: "Open connections to pods, services and nodes.",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_backend_connections_refused_total`,
      help: "Rejected connections to pods, services and nodes, by the limit that was reached: user (caller) or server.",
      type: "counter",
      stability: "ALPHA",
      labels: ["reason"],
    },
    {
      name: `${name}_descriptor_shortages_total`,
      help: "Times that no file descriptor was free: for a client connection (accept), a backend connection (dial), or a check (look).",
      type: "counter",
      stability: "ALPHA",
      labels: ["what"],
    },
    {
      name: `${name}_client_connections`,
      help: "Open client connections.",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_client_connections_refused_total`,
      help: "Client connections refused because of the limit.",
      type: "counter",
      stability: "ALPHA",
      labels: [],
    },
  ];
}

/** Metrics of the spans of traced requests. */
function traceMetrics(name: string): readonly MetricDefinition[] {
  return [
    {
      name: `${name}_trace_spans_exported_total`,
      help: "Spans that the collector of --tracing-config-file accepted.",
      type: "counter",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_trace_spans_dropped_total`,
      help: "Spans that weren't delivered, by reason: queue_full, export_failed, rejected or shutdown.",
      type: "counter",
      stability: "ALPHA",
      labels: ["reason"],
    },
  ];
}
