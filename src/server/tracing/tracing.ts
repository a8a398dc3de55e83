import { randomUUID } from "node:crypto";
import { rarely } from "../../base/time/clock.ts";
import { applies, since, rowsIn } from "../../base/release-rows.ts";
import { Tracer } from "../../base/tracing/tracer.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import type { RequestTracing } from "../../http/request/request-trace.ts";
import { SpanExporter } from "../../remote/span-exporter.ts";
import { featureGates } from "../features/enabled-features.ts";
import { featuresOf } from "../features/features.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { useConfigurationFile } from "../start/reloaded-file.ts";
import { groupVersion } from "../../vocabulary/names.ts";
import type { Release } from "../../base/releases.ts";
import { assertNoFaults, readConfiguration, type ConfigurationForm } from "../../schema/configuration.ts";
import { FieldReport } from "../../schema/faults.ts";
import { struct } from "../../schema/meta.ts";
import { field, int32, string } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

const TracingConfiguration = struct("TracingConfiguration", "Configuration of request tracing.", {
  kind: field(undefined, string, "TracingConfiguration."),
  apiVersion: field(undefined, string, "Version of the configuration format."),
  endpoint: field(undefined, string, "URL of the collector. Default: http://localhost:4318."),
  samplingRatePerMillion: field(undefined, int32, "Number of traced requests per million. Default: 0."),
});

/** The content of the file of `--tracing-config-file`. */
interface TracingSettings {
  readonly url: URL;
  /** Part of the requests that are traced, from 0 to 1. */
  readonly ratio: number;
  readonly warnings: readonly string[];
}

const million = 1_000_000;
/** The address that collectors listen on by default, and the path of traces. */
const defaultEndpoint = "http://localhost:4318";
const tracesPath = "/v1/traces";

/**
 * Reads the file of `--tracing-config-file`.
 *
 * @throws {ConfigurationError} the configuration is invalid; the message names every field.
 */
export async function readTracingConfiguration(
  bytes: Uint8Array,
  vocabulary: Vocabulary,
  release: Release,
): Promise<TracingSettings> {
  const { value, warnings } = await readConfiguration(bytes, formOf(vocabulary, release));
  const { endpoint = "", samplingRatePerMillion: rate = 0 } = value;
  const report = FieldReport.start();
  if (rate < 0 || rate > million)
    report.at("samplingRatePerMillion").invalid(rate, `must be from 0 to ${million}`);
  const url = tracesUrl(endpoint === "" ? defaultEndpoint : endpoint);
  if (url === undefined) report.at("endpoint").invalid(endpoint, endpointHint(endpoint));
  assertNoFaults(report);
  return { url: url!, ratio: rate / million, warnings };
}

/** The versions of the format that a release has. */
function formOf(
  { groupSuffix }: Vocabulary,
  release: Release,
): ConfigurationForm<typeof TracingConfiguration> {
  const versions = rowsIn([since("1.34", "v1"), since("1.27", "v1beta1"), "v1alpha1"], { release });
  return {
    type: TracingConfiguration,
    kind: "TracingConfiguration",
    apiVersions: versions.map((version) => groupVersion(groupSuffix, "apiserver.config", version)),
  };
}

function tracesUrl(endpoint: string): URL | undefined {
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  if (url.username !== "" || url.password !== "" || url.hash !== "") return undefined;
  if (url.pathname === "/") url.pathname = tracesPath;
  return url;
}

/** Explains a wrong endpoint; host and port without scheme are valid in the reference, which sends spans by gRPC. */
function endpointHint(endpoint: string): string {
  const hostAndPort = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\]):(\d+)$/i.exec(endpoint);
  if (hostAndPort === null)
    return `must be an http:// or https:// URL without user, password and fragment, such as ${defaultEndpoint}`;
  const host = endpoint.slice(0, endpoint.lastIndexOf(":"));
  const [, port = ""] = hostAndPort;
  const httpPort = port === "4317" ? "4318" : port;
  return `is an address for OTLP over gRPC; this server sends spans by OTLP over HTTP: write http://${host}:${httpPort}`;
}

const continuesTraces = applies(since("1.33"));

const flag = "--tracing-config-file";
const gate = "APIServerTracing";
const failureLogIntervalMs = 60_000;

/** The tracing of a server. */
export interface ServerTracing {
  readonly tracer: Tracer;
  readonly requests: RequestTracing;
  /** Adds the counts of spans to the metrics. */
  show(metrics: MetricSet): void;
  /** Sends the last spans. */
  close(): Promise<void>;
}

/**
 * Starts the tracing that the file of `--tracing-config-file` configures; undefined without one. The collector needn't be reachable.
 *
 * @throws {OptionsError} the file can't be used, or the feature gate is off.
 */
export async function startTracing(options: ServerOptions): Promise<ServerTracing | undefined> {
  const { tracingConfigFile: file, vocabulary, release, clock, log } = options;
  if (file === undefined) return undefined;
  const settings = await useConfigurationFile(flag, file, (bytes) =>
    readTracingConfiguration(bytes, vocabulary, release),
  );
  assertGate(options);
  for (const warning of settings.warnings) log.warn({}, `${flag}: ${warning}`);
  const { url, ratio } = settings;
  const exporter = new SpanExporter({
    url,
    // As in the reference, which calls each of its servers apiserver.
    resource: { "service.name": "apiserver", "service.instance.id": `apiserver-${randomUUID()}` },
    clock,
    failed: rarely(clock, failureLogIntervalMs, (reason: string) =>
      log.warn({ reason }, "spans could not be delivered and are dropped"),
    ),
  });
  const tracer = new Tracer();
  const { systemPrefix, name } = vocabulary;
  const trusted = new Set([`${systemPrefix}masters`, `${systemPrefix}monitoring`]);
  const continues = continuesTraces({ release });
  return {
    tracer,
    requests: {
      tracer,
      clock,
      ratio,
      trusts: ({ groups }) => continues && groups.some((group) => trusted.has(group)),
      finished: (trace) => exporter.add(trace),
    },
    show(metrics) {
      metrics.collectWith(() => {
        metrics.sample(`${name}_trace_spans_exported_total`).set(exporter.counts.exported);
        for (const [reason, count] of Object.entries(exporter.counts.dropped))
          metrics.sample(`${name}_trace_spans_dropped_total`, reason).set(count);
      });
    },
    close: () => exporter.close(),
  };
}

/** As in the reference, the file is refused while the gate is off. */
function assertGate(options: ServerOptions): void {
  const { gates, removed } = featuresOf(options.release);
  if (removed.has(gate) || !Object.hasOwn(gates, gate) || featureGates(options).enabled(gate)) return;
  throw new OptionsError(
    `${flag} needs the feature gate ${gate}, which is off in release ${options.release}: add --feature-gates=${gate}=true`,
  );
}
