import type { OtherProcesses, MetricValues } from "../../http/metrics/metric-set.ts";
import { isAnswer, isRequest, type MetricAnswer, type MetricRequest } from "./metric-messages.ts";

/** Exchanges metrics with the other workers through the parent process. */
export class WorkerMetrics implements OtherProcesses {
  private lastId = 0;
  private readonly pending = new Map<number, (metrics: MetricAnswer["metrics"]) => void>();
  private own: (() => Promise<MetricValues>) | undefined;

  /** @param failed called with the error when the metrics of this worker can't be collected. */
  constructor(failed: (error: unknown) => void) {
    process.on("message", (message) => {
      if (isRequest(message)) this.answer(message).catch(failed);
      else if (isAnswer(message)) {
        this.pending.get(message.id)?.(message.metrics);
        this.pending.delete(message.id);
      }
    });
  }

  share(own: () => Promise<MetricValues>): void {
    this.own = own;
  }

  metrics(): Promise<readonly MetricValues[]> {
    return new Promise((resolve) => {
      this.pending.set(++this.lastId, resolve);
      process.send!({ kind: "metrics request", id: this.lastId } satisfies MetricRequest);
    });
  }

  private async answer({ id }: MetricRequest): Promise<void> {
    const metrics = this.own === undefined ? [] : [await this.own()];
    process.send!({ kind: "metrics answer", id, metrics } satisfies MetricAnswer);
  }
}
