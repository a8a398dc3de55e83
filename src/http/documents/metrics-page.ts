import type { RequestContext } from "../request/context.ts";
import type { PathTable } from "../request/path-table.ts";
import type { MetricSet } from "../metrics/metric-set.ts";

/** Adds `/metrics`. */
export function addMetricsPath(paths: PathTable, metrics: MetricSet): void {
  paths.add("/metrics", async ({ exchange }: RequestContext) => {
    const text = await metrics.text();
    exchange.send(
      200,
      ["Content-Type", metrics.contentType, "Cache-Control", "no-cache, private"],
      Buffer.from(text),
    );
  });
}
