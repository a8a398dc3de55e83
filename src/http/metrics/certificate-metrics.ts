import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { MetricDefinition } from "./metric-definition.ts";

/** Name of the metric of the expiration of the server's certificates. */
export const certificateExpiration = (name: string): string =>
  `${name}_certificate_expiration_timestamp_seconds`;

/** Name of the metric of the remaining lifetime of the certificates of clients. */
export const clientCertificateExpiration = "apiserver_client_certificate_expiration_seconds";

const hour = 3600;
const day = 24 * hour;

/** Metrics of the expiration of certificates; that of clients has the name of the reference. */
export const certificateMetrics = ({ name }: Vocabulary): readonly MetricDefinition[] => [
  {
    name: certificateExpiration(name),
    help: "When a certificate of the server expires, in seconds since 1970, by its use; of several certificates the first one to expire.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["certificate"],
    combined: "min",
  },
  {
    name: clientCertificateExpiration,
    help: "Remaining lifetime of the client certificates that authenticated requests, in seconds.",
    type: "histogram",
    stability: "ALPHA",
    labels: [],
    buckets: [
      0,
      hour / 2,
      hour,
      2 * hour,
      6 * hour,
      12 * hour,
      day,
      2 * day,
      4 * day,
      7 * day,
      30 * day,
      90 * day,
      180 * day,
      360 * day,
    ],
  },
];
