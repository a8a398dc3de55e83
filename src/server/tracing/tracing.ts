import { randomUUID } from "node:crypto";
import { rarely } from "../../base/time/clock.ts";
import { applies, since } from "../../base/release-rows.ts";
import { Tracer } from "../../base/tracing/tracer.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import type { RequestTracing } from "../../http/request/request-trace.ts";
import { SpanExporter } from "../../remote/span-exporter.ts";
import { featureGates } from "../features/enabled-features.ts";
import { featuresOf } from "../features/features.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { useConfigurationFile } from "../start/reloaded-file.ts";
import { readTracingConfiguration } from "./tracing-configuration.ts";

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
