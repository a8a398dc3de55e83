import type { Clock } from "../../base/clock.ts";
import type { OtherProcesses } from "../../base/other-processes.ts";
import type { RequestContext } from "../request/context.ts";
import type { PathTable } from "../request/path-table.ts";
import { metricsContentType, metricsTopic, type MetricSet } from "../metrics/metric-set.ts";
import { sendPieces } from "./send-pieces.ts";

/** Adds `/metrics`. @param others the other processes of the server; the page has the metrics of all. */
export function addMetricsPath(
  paths: PathTable,
  clock: Clock,
  metrics: MetricSet,
  others?: OtherProcesses,
): void {
  others?.share(metricsTopic, () => metrics.values());
  const headers = ["Content-Type", metricsContentType, "Cache-Control", "no-cache, private"];
  paths.add("/metrics", (request: RequestContext) =>
    sendPieces(request, clock, headers, metrics.pieces(others)),
  );
}
