import type { OtherProcesses } from "../../src/base/other-processes.ts";
import type { MetricSet } from "../../src/http/metrics/metric-set.ts";

/** Returns the text of `/metrics`. */
export async function metricsText(metrics: MetricSet, others?: OtherProcesses): Promise<string> {
  let text = "";
  for await (const piece of metrics.pieces(others)) text += piece.toString();
  return text;
}
