import type { Admitted, PathTable } from "../service.ts";
import type { MetricSet } from "./metric-set.ts";

/** Adds `/metrics`, for programs that gather figures. */
export function addMetricsPath(paths: PathTable, metrics: MetricSet): void {
  paths.add("/metrics", async ({ exchange }: Admitted) => {
    const text = await metrics.text();
    exchange.send(
      200,
      ["Content-Type", metrics.contentType, "Cache-Control", "no-cache, private"],
      Buffer.from(text),
    );
  });
}
