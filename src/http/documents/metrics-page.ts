import type { Clock } from "../../base/time/clock.ts";
import type { OtherProcesses } from "../../base/other-processes.ts";
import type { RequestContext } from "../request/context.ts";
import type { AddedPaths } from "../request/path-table.ts";
import { indicatorTopics, type HealthIndicators } from "../metrics/health-indicators.ts";
import {
  metricsContentType,
  serverTopics,
  type MetricSet,
  type MetricTopics,
} from "../metrics/metric-set.ts";
import { sendText } from "../answers/respond.ts";
import { sendPieces } from "./send-pieces.ts";

/** Adds `/metrics`; its DELETE clears the metrics, as in the reference. @param others the other processes of the server; the page has the metrics of all. */
export function addMetricsPath(
  paths: AddedPaths,
  clock: Clock,
  metrics: MetricSet,
  others?: OtherProcesses,
): void {
  addPage(paths, clock, { path: "/metrics", topics: serverTopics, metrics, others });
}

/** Adds `/metrics/slis` with the results of the health checks. @param others as of {@link addMetricsPath} */
export function addIndicatorsPath(
  paths: AddedPaths,
  clock: Clock,
  { metrics }: HealthIndicators,
  others?: OtherProcesses,
): void {
  addPage(paths, clock, { path: "/metrics/slis", topics: indicatorTopics, metrics, others });
}

interface MetricsPage {
  readonly path: string;
  readonly topics: MetricTopics;
  readonly metrics: MetricSet;
  readonly others: OtherProcesses | undefined;
}

function addPage(paths: AddedPaths, clock: Clock, { path, topics, metrics, others }: MetricsPage): void {
  const clear = (): true => {
    metrics.clear();
    return true;
  };
  others?.share(topics.values, () => metrics.values());
  others?.share(topics.clearing, clear);
  const headers = ["Content-Type", metricsContentType, "Cache-Control", "no-cache, private"];
  paths.addWithMethods(path, ["GET", "HEAD", "DELETE"], async (request: RequestContext) => {
    const { exchange } = request;
    if (exchange.method !== "DELETE") {
      return sendPieces(request, clock, headers, metrics.pieces(others, topics.values));
    }
    clear();
    await others?.collect(topics.clearing);
    sendText(exchange, 200, "metrics reset\n");
  });
}
