import { groupVersion } from "../../vocabulary/names.ts";
import { rowsIn, since } from "../../base/release-rows.ts";
import { type Release } from "../../base/releases.ts";
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
export interface TracingSettings {
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
