import type { RequestContext } from "../request/context.ts";
import type { PathTable } from "../request/path-table.ts";
import type { MetricSet, OtherProcesses } from "../metrics/metric-set.ts";

/** Adds `/metrics`. @param others the other processes of the server; the page has the metrics of all. */
export function addMetricsPath(paths: PathTable, metrics: MetricSet, others?: OtherProcesses): void {
  others?.share(() => metrics.values());
  paths.add("/metrics", async ({ exchange }: RequestContext) => {
    const text = await metrics.text(others);
    exchange.send(
      200,
      ["Content-Type", metrics.contentType, "Cache-Control", "no-cache, private"],
      Buffer.from(text),
    );
  });
}
