import type { Worker } from "node:cluster";
import type { MetricValues } from "../../http/metrics/metric-set.ts";
import { isAnswer, isRequest, type MetricAnswer, type MetricRequest } from "./metric-messages.ts";

/** Time for a worker to answer, in milliseconds; the metrics of one that doesn't are left out. */
const answerMs = 2000;

/** Passes metrics between workers. */
export class MetricRelay {
  private lastId = 0;
  private readonly pending = new Map<number, (metrics: MetricAnswer["metrics"]) => void>();

  /** @param workers returns the running workers. */
  constructor(private readonly workers: () => readonly Worker[]) {}

  /** Handles a message of a worker; messages of other kinds are ignored. */
  async receive(from: Worker, message: unknown): Promise<void> {
    if (isAnswer(message)) this.pending.get(message.id)?.(message.metrics);
    else if (isRequest(message)) {
      const others = this.workers().filter((worker) => worker !== from && worker.isConnected());
      const metrics = (await Promise.all(others.map((worker) => this.metricsOf(worker)))).flat();
      const answer: MetricAnswer = { kind: "metrics answer", id: message.id, metrics };
      if (from.isConnected()) from.send(answer);
    }
  }

  private metricsOf(worker: Worker): Promise<readonly MetricValues[]> {
    const id = ++this.lastId;
    return new Promise((resolve) => {
      const settle = (metrics: readonly MetricValues[]) => {
        this.pending.delete(id);
        clearTimeout(timer);
        resolve(metrics);
      };
      const timer = setTimeout(settle, answerMs, []);
      this.pending.set(id, settle);
      worker.send({ kind: "metrics request", id } satisfies MetricRequest);
    });
  }
}
