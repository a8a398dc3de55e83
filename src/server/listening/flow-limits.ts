import { FlowControl } from "../../flow/flow-control.ts";
import { addFlowDebugPages } from "../../http/documents/flow-debug-pages.ts";
import { FairLimiter, type WatchCounts } from "../../http/limits/fair-limiter.ts";
import type { RequestLimiter } from "../../http/request/context.ts";
import { ListWidths } from "../../http/limits/list-widths.ts";
import { PlainLimiter } from "../../http/limits/plain-limiter.ts";
import { collectFlows, waitMeters } from "../../http/metrics/flow-metrics.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import type { AddedPaths } from "../../http/request/path-table.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Maximum wait of a request for a seat: a quarter of the request timeout. */
const waitMs = 15_000;

/** Creates the flow control of API priority and fairness; returns undefined if it is off. */
export function flowControl(
  { flow, vocabulary, clock }: ServerOptions,
  engine: Engine,
  metrics: MetricSet,
): FlowControl | undefined {
  if (!flow.fair || !engine.featureEnabled("APIPriorityAndFairness")) return undefined;
  const control = new FlowControl({
    seats: flow.maxReading + flow.maxChanging,
    waitMs,
    systemPrefix: vocabulary.systemPrefix,
    headerPrefix: vocabulary.flowHeaderPrefix,
    clock,
    meters: (level, schema) => waitMeters(metrics, level, schema),
  });
  metrics.collectWith(() => collectFlows(metrics, control));
  return control;
}

/** Returns the request limiter of the pipeline: fair if flow control is on, otherwise by fixed maxima. */
export function requestLimiter(
  { flow, vocabulary, clock, log }: ServerOptions,
  engine: Engine,
  control: FlowControl | undefined,
  { paths, watches }: { readonly paths: AddedPaths; readonly watches: WatchCounts },
): RequestLimiter {
  if (control === undefined) {
    const limits = { reading: flow.maxReading, changing: flow.maxChanging };
    return new PlainLimiter(limits, `${vocabulary.systemPrefix}masters`);
  }
  addFlowDebugPages(paths, control);
  const countFailed = (error: unknown) => log.warn({ error: stackOf(error) }, "objects could not be counted");
  return new FairLimiter(control, new ListWidths(engine, clock, countFailed), watches);
}
