import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { MetricDefinition } from "./metric-definition.ts";

/** Metrics that the reference doesn't have; they are prefixed with the name of the vocabulary. */
export function productMetrics({ name }: Vocabulary): readonly MetricDefinition[] {
  return [
    {
      name: `${name}_build_info`,
      help: "Always 1; the labels say what is running.",
      type: "gauge",
      stability: "ALPHA",
      labels: ["major", "minor", "git_version", "platform"],
    },
    {
      name: `${name}_feature_enabled`,
      help: "Whether a feature is on (1) or off (0).",
      type: "gauge",
      stability: "ALPHA",
      labels: ["name", "stage"],
    },
    {
      name: `${name}_defects_total`,
      help: "Exceptions that are bugs of the server, by where they were caught: request, event or process.",
      type: "counter",
      stability: "ALPHA",
      labels: ["source"],
    },
    ...connectionMetrics(name),
    ...selectorMetrics(name),
  ];
}

/** Metrics of lists with selectors and of their indexes. */
function selectorMetrics(name: string): readonly MetricDefinition[] {
  return [
    {
      name: `${name}_selector_lists_total`,
      help: "Lists with a selector that an index can help with, by how they were answered: from an index (index), or by looking at all objects (scan).",
      type: "counter",
      stability: "ALPHA",
      labels: ["by"],
    },
    {
      name: `${name}_selector_indexes`,
      help: "Labels and fields of resource types that have an index at present.",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_selector_index_bytes`,
      help: "Roughly the memory that the indexes of labels and fields take, in bytes.",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_store_failed_writes_total`,
      help: "Writes to the embedded store that failed because there was no room for them or they could not be committed.",
      type: "counter",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_selector_indexes_too_large_total`,
      help: "Indexes of labels and fields that weren't made, or were given up, as they would have taken more memory than they may: lists look at all objects instead.",
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
      help: "Request bodies that were refused: the user has their share of what bodies may take (caller), or all of it is taken (server).",
      type: "counter",
      stability: "ALPHA",
      labels: ["reason"],
    },
    {
      name: `${name}_unread_connections_ended_total`,
      help: "Connections that were ended as their clients don't take their answers: more than a connection may leave (connection), a user's share (caller), or what all may (server).",
      type: "counter",
      stability: "ALPHA",
      labels: ["reason"],
    },
    {
      name: `${name}_backend_connections`,
      help: "Connections to pods, services and nodes that are open now.",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_backend_connections_refused_total`,
      help: "Requests for a connection to a pod, service or node that were refused: the user has their share (caller), or all are taken (server).",
      type: "counter",
      stability: "ALPHA",
      labels: ["reason"],
    },
    {
      name: `${name}_descriptor_shortages_total`,
      help: "Times that no file descriptor was left: for a client's connection (accept), for one to a backend (dial), or when the server looked (look).",
      type: "counter",
      stability: "ALPHA",
      labels: ["what"],
    },
    {
      name: `${name}_client_connections`,
      help: "Connections of clients that are open now.",
      type: "gauge",
      stability: "ALPHA",
      labels: [],
    },
    {
      name: `${name}_client_connections_refused_total`,
      help: "Connections that were closed at once, as there were too many.",
      type: "counter",
      stability: "ALPHA",
      labels: [],
    },
  ];
}
