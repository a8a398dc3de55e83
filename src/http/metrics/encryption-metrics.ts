import { createHash } from "node:crypto";
import type { Clock } from "../../base/time/clock.ts";
import { RecentMap } from "../../base/collections/recent-map.ts";
import type { Direction, EncryptionObserver } from "../../storage/encryption/encryption-observer.ts";
import { EncryptionError } from "../../storage/encryption/value-cipher.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

const operations = "apiserver_storage_transformation_operations_total";
const duration = "apiserver_storage_transformation_duration_seconds";
const misses = "apiserver_storage_envelope_transformation_cache_misses_total";
const calls = "apiserver_envelope_encryption_kms_operations_latency_seconds";
const uses = "apiserver_envelope_encryption_key_id_hash_total";
const lastUse = "apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds";
const lastStatus = "apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds";
const invalidKeyIds = "apiserver_envelope_encryption_invalid_key_id_from_status_total";
const seeds = "apiserver_envelope_encryption_dek_source_cache_size";

/** Returns the bounds of buckets of which each is twice the one before. */
const doubling = (first: number, count: number): readonly number[] =>
  // Without the digits that are only rounding errors.
  Array.from({ length: count }, (_, index) => Number((first * 2 ** index).toPrecision(12)));

const keyLabels = ["transformation_type", "provider_name", "key_id_hash", "apiserver_id_hash"] as const;

/** Metrics of encryption at rest and of key management services, with the names of the reference. */
export const encryptionMetrics: readonly MetricDefinition[] = [
  {
    name: operations,
    help: "Encryptions (to_storage) and decryptions (from_storage) of stored values, by resource, provider and status: OK, the status of the service's call, or unknown-non-grpc.",
    type: "counter",
    stability: "ALPHA",
    labels: ["resource", "transformation_type", "transformer_prefix", "status"],
  },
  {
    name: duration,
    help: "Seconds of successful encryptions and decryptions of stored values.",
    type: "histogram",
    stability: "ALPHA",
    labels: ["transformation_type", "transformer_prefix"],
    buckets: doubling(5e-6, 25),
  },
  {
    name: misses,
    help: "Values whose key had to be decrypted by the key management service.",
    type: "counter",
    stability: "ALPHA",
    labels: [],
  },
  {
    name: calls,
    help: "Seconds of calls of key management services, by service, method and gRPC status.",
    type: "histogram",
    stability: "ALPHA",
    labels: ["provider_name", "method_name", "grpc_status_code"],
    buckets: doubling(0.0001, 20),
  },
  {
    name: uses,
    help: "Encryptions and decryptions by the SHA-256 hash of the key id of the key management service.",
    type: "counter",
    stability: "ALPHA",
    labels: keyLabels,
  },
  {
    name: lastUse,
    help: "Time of the last encryption or decryption with a key of the key management service, in seconds since 1970.",
    type: "gauge",
    stability: "ALPHA",
    labels: keyLabels,
    combined: "max",
  },
  {
    name: lastStatus,
    help: "Time of the last status of the key management service with a key id, in seconds since 1970.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["provider_name", "key_id_hash", "apiserver_id_hash"],
    combined: "max",
  },
  {
    name: invalidKeyIds,
    help: "Statuses of the key management service with an invalid key id, by fault: empty or too_long.",
    type: "counter",
    stability: "ALPHA",
    labels: ["provider_name", "error"],
  },
  {
    name: seeds,
    help: "Keys in memory that the key management service has decrypted, by service.",
    type: "gauge",
    stability: "ALPHA",
    labels: ["provider_name"],
  },
];

/** Key ids that are counted; the service chooses them, so their number is limited as in the reference. */
const keyLimits = { entries: 100, cost: Infinity };

/** Uses of a key of a service. */
interface KeyUse {
  readonly labels: readonly string[];
  count: number;
  lastMs: number;
}

/**
 * Returns the observer of encryption that updates the metrics.
 *
 * @param providerPrefix first label of the domain of the API groups; the prefixes of providers begin with it.
 */
export function encryptionObserver(
  metrics: MetricSet,
  { clock, providerPrefix }: { readonly clock: Clock; readonly providerPrefix: string },
): EncryptionObserver {
  const used = new RecentMap<KeyUse>(keyLimits);
  const named = new RecentMap<KeyUse>(keyLimits);
  metrics.collectWith(() => {
    for (const name of [uses, lastUse, lastStatus]) metrics.reset(name);
    for (const { labels, count, lastMs } of used.values()) {
      metrics.sample(uses, ...labels).set(count);
      metrics.sample(lastUse, ...labels).set(lastMs / 1000);
    }
    for (const { labels, lastMs } of named.values()) metrics.sample(lastStatus, ...labels).set(lastMs / 1000);
  });
  const count = (map: RecentMap<KeyUse>, keyId: string, ...labels: readonly string[]): void => {
    const key = `${labels.join("\n")}\n${keyId}`;
    let use = map.get(key);
    if (use === undefined) {
      // The hash of the server's identity is always empty.
      use = { labels: [...labels, hashOf(keyId), ""], count: 0, lastMs: 0 };
      map.set(key, use);
    }
    use.count++;
    use.lastMs = clock.now();
  };
  return {
    now: () => clock.monotonicNow(),
    transformed: ({ resource, direction, label }, startMs, error) => {
      const prefix = prefixOf(label, providerPrefix);
      metrics.sample(operations, resource, direction, prefix, statusOf(error)).inc();
      if (error !== undefined) return;
      metrics.sample(duration, direction, prefix).observe((clock.monotonicNow() - startMs) / 1000);
    },
    called: (service, method, seconds, status) =>
      metrics.sample(calls, service, method, status).observe(seconds),
    missed: () => metrics.sample(misses).inc(),
    cached: (service, number) => metrics.sample(seeds, service).set(number),
    used: (direction: Direction, service, keyId) => count(used, keyId, direction, service),
    named: (service, keyId) => count(named, keyId, service),
    invalidKeyId: (service, fault) => metrics.sample(invalidKeyIds, service, fault).inc(),
  };
}

function hashOf(keyId: string): string {
  return `sha256:${createHash("sha256").update(keyId).digest("hex")}`;
}

function statusOf(error: unknown): string {
  if (error === undefined) return "OK";
  return (error instanceof EncryptionError ? error.callStatus : undefined) ?? "unknown-non-grpc";
}

/** Returns the prefix of a cipher with this label in the reference: with the name of a service, and without that of a local key. */
function prefixOf(label: string, providerPrefix: string): string {
  const versionAt = label.indexOf(":");
  if (versionAt === -1) return label;
  const service = label.startsWith("kms:")
    ? `${label}:`
    : label.slice(0, label.indexOf(":", versionAt + 1) + 1);
  return `${providerPrefix}:enc:${service}`;
}
