import type { ReloadCounters } from "../../base/reload-counters.ts";
import { gitVersionOf, releaseAfter, type Release } from "../../base/releases.ts";
import { qualifiedName } from "../../base/object-errors.ts";
import type { AuthenticationCounters } from "../../authentication/counters.ts";
import { clientCertificateExpiration } from "../../http/metrics/certificate-metrics.ts";
import { showMatches, showReloads } from "../../http/metrics/configuration-metrics.ts";
import { metricDefinitions } from "../../http/metrics/definitions.ts";
import { MetricSet, type Sample } from "../../http/metrics/metric-set.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { StoreError } from "../../storage/store.ts";
import { openFileLimit, openFiles } from "../start/open-files.ts";
import { featuresOf } from "../features/features.ts";
import { OptionsError } from "../options/options-error.ts";
import { stackOf, type Logger } from "../../base/logger.ts";
import type { ConfigurationCounters } from "../authorization/configuration.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Label for the size of the embedded store; the size of other stores isn't reported. */
const embedded = "embedded";

/** Creates the metrics of a server; {@link showServer} adds those of its parts. */
export function createMetrics({
  release,
  showHiddenMetricsForVersion,
  vocabulary,
  log,
}: ServerOptions): MetricSet {
  const showHiddenFor = previousRelease(showHiddenMetricsForVersion, release);
  const warn = (message: string) => log.warn({}, message);
  return new MetricSet(metricDefinitions(vocabulary), { release, showHiddenFor, warn });
}

/** The parts of a server whose counters its metrics show. */
interface CountingParts {
  readonly authentication: { readonly counters: AuthenticationCounters };
  readonly authorization: { readonly counters?: ConfigurationCounters | undefined };
  readonly encryption: { readonly reloads: ReloadCounters | undefined };
}

/** Connects the parts of the server with its metrics, also those that are read at each scrape. */
export function showServer(
  metrics: MetricSet,
  options: ServerOptions,
  engine: Engine,
  parts: CountingParts,
): void {
  const { counters } = parts.authentication;
  const { counters: authorization } = parts.authorization;
  const { reloads: encryptionReloads } = parts.encryption;
  const { release } = options;
  const { name } = engine.vocabulary;
  const [major = "", minor = ""] = release.split(".");
  metrics
    .sample(`${name}_build_info`, major, minor, gitVersionOf(release), `${process.platform}/${process.arch}`)
    .set(1);
  // The labels of the reference: ALPHA, BETA, DEPRECATED, and none for stable.
  for (const [feature, { stage }] of Object.entries(featuresOf(release).gates)) {
    const label = stage === "stable" ? "" : stage.toUpperCase();
    metrics.sample(`${name}_feature_enabled`, feature, label).set(engine.featureEnabled(feature) ? 1 : 0);
  }
  metrics.collectWith(() => collectAuthentication(metrics, counters));
  const expirations = metrics.sample(clientCertificateExpiration);
  counters.certificateExpires = (seconds) => expirations.observe(seconds);
  showReloads(metrics, "authentication", counters.reloads);
  if (authorization !== undefined) {
    showReloads(metrics, "authorization", authorization.reloads);
    showMatches(metrics, authorization.matches);
  }
  if (encryptionReloads !== undefined) showReloads(metrics, "encryption", encryptionReloads);
  metrics.collectWith(() => collectStore(metrics, engine, options.log));
  const { newestBackup } = options;
  if (newestBackup !== undefined)
    metrics.collectWith(() => collectBackups(metrics, name, newestBackup, options.log));
  metrics.collectWith(() => collectSelectors(metrics, engine));
  metrics.collectWith(() => collectProcess(metrics));
}

function collectAuthentication(metrics: MetricSet, { cache, tokens }: AuthenticationCounters): void {
  for (const [status, count] of Object.entries(cache)) {
    metrics.sample("authentication_token_cache_request_total", status).set(count);
  }
  for (const [use, count] of Object.entries(tokens)) {
    metrics.sample(`serviceaccount_${use}_tokens_total`).set(count);
  }
}

function collectSelectors(metrics: MetricSet, { selectors, vocabulary: { name } }: Engine): void {
  const { fromIndex, scanned, indexes, bytes, tooLarge } = selectors.counters;
  metrics.sample(`${name}_selector_lists_total`, "index").set(fromIndex);
  metrics.sample(`${name}_selector_lists_total`, "scan").set(scanned);
  metrics.sample(`${name}_selector_indexes`).set(indexes);
  metrics.sample(`${name}_selector_index_bytes`).set(bytes);
  metrics.sample(`${name}_selector_indexes_too_large_total`).set(tooLarge);
}

/** If the store fails, the other metrics are still served. */
async function collectStore(metrics: MetricSet, engine: Engine, log: Logger): Promise<void> {
  try {
    await countObjects(metrics, engine);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.warn({ error: error.message }, "the store's size can't be read; /metrics leaves it out");
    for (const resource of engine.registry.stored()) objectsOf(metrics, resource).set(-1);
  }
}

async function countObjects(metrics: MetricSet, { store, registry, vocabulary }: Engine): Promise<void> {
  metrics.sample("apiserver_storage_revision").set(await store.latestRevision());
  metrics.sample("apiserver_storage_floor_revision").set(await store.floor());
  const usage = await store.usage?.();
  if (usage !== undefined) {
    metrics.sample("apiserver_storage_db_total_size_in_bytes", embedded).set(usage.totalBytes);
    metrics.sample("apiserver_storage_db_free_size_in_bytes", embedded).set(usage.freeBytes);
    if (usage.failedWrites !== undefined)
      metrics.sample(`${vocabulary.name}_store_failed_writes_total`).set(usage.failedWrites);
    if (usage.unsyncedMs !== undefined)
      metrics.sample(`${vocabulary.name}_store_unsynced_age_seconds`).set(usage.unsyncedMs / 1000);
  }
  await registry.readAll();
  for (const resource of registry.stored()) {
    objectsOf(metrics, resource).set(await store.count(resource.storePrefix));
  }
}

/** 0 before the first backup, so that alerts on the age of the newest one see that there is none. */
async function collectBackups(
  metrics: MetricSet,
  name: string,
  newestBackup: NonNullable<ServerOptions["newestBackup"]>,
  log: Logger,
): Promise<void> {
  try {
    const newest = await newestBackup();
    metrics.sample(`${name}_backup_last_success_timestamp_seconds`).set((newest?.timeMs ?? 0) / 1000);
    metrics.sample(`${name}_backup_last_size_bytes`).set(newest?.bytes ?? 0);
  } catch (error) {
    log.warn({ error: stackOf(error) }, "the folder of backups can't be read; /metrics leaves it out");
  }
}

function objectsOf(metrics: MetricSet, { group, name }: Resource): Sample {
  return metrics.sample("apiserver_storage_objects", qualifiedName(name, group));
}

async function collectProcess(metrics: MetricSet): Promise<void> {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  metrics.sample("process_cpu_seconds_total").set((user + system) / 1e6);
  metrics.sample("process_resident_memory_bytes").set(rss);
  metrics.sample("process_heap_bytes").set(heapUsed);
  const [open, limit] = [await openFiles(), openFileLimit()];
  if (open !== undefined) metrics.sample("process_open_fds").set(open);
  if (limit !== undefined) metrics.sample("process_max_fds").set(limit);
  metrics.sample("process_start_time_seconds").set(Date.now() / 1000 - process.uptime());
}

/** Parses `--show-hidden-metrics-for-version`; only the previous release is allowed. */
function previousRelease(text: string, release: Release): string {
  const previous = releaseAfter(release, -1);
  if (text === "" || text === previous) return text;
  throw new OptionsError(
    `--show-hidden-metrics-for-version: ${JSON.stringify(text)} is not the release before this one, ${previous}`,
  );
}
