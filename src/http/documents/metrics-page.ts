import type { Clock } from "../../base/clock.ts";
import type { OtherProcesses, Topic } from "../../base/other-processes.ts";
import type { RequestContext } from "../request/context.ts";
import type { PathTable } from "../request/path-table.ts";
import { indicatorsTopic, type HealthIndicators } from "../metrics/health-indicators.ts";
import {
  metricsContentType,
  metricsTopic,
  type MetricSet,
  type MetricValues,
} from "../metrics/metric-set.ts";
import { sendPieces } from "./send-pieces.ts";

/** Adds `/metrics`. @param others the other processes of the server; the page has the metrics of all. */
export function addMetricsPath(
  paths: PathTable,
  clock: Clock,
  metrics: MetricSet,
  others?: OtherProcesses,
): void {
  addPage(paths, clock, { path: "/metrics", topic: metricsTopic, metrics, others });
}

/** Adds `/metrics/slis` with the results of the health checks. @param others as of {@link addMetricsPath} */
export function addIndicatorsPath(
  paths: PathTable,
  clock: Clock,
  { metrics }: HealthIndicators,
  others?: OtherProcesses,
): void {
  addPage(paths, clock, { path: "/metrics/slis", topic: indicatorsTopic, metrics, others });
}

interface MetricsPage {
  readonly path: string;
  readonly topic: Topic<MetricValues>;
  readonly metrics: MetricSet;
  readonly others: OtherProcesses | undefined;
}

function addPage(paths: PathTable, clock: Clock, { path, topic, metrics, others }: MetricsPage): void {
  others?.share(topic, () => metrics.values());
  const headers = ["Content-Type", metricsContentType, "Cache-Control", "no-cache, private"];
  paths.add(path, (request: RequestContext) =>
    sendPieces(request, clock, headers, metrics.pieces(others, topic)),
  );
}
