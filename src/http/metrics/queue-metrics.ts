import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../base/time/clock.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

const adds = "workqueue_adds_total";
const depth = "workqueue_depth";
const waited = "workqueue_queue_duration_seconds";
const worked = "workqueue_work_duration_seconds";
const retries = "workqueue_retries_total";
const unfinished = "workqueue_unfinished_work_seconds";
const longest = "workqueue_longest_running_processor_seconds";
const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10];
const common = { stability: "ALPHA", labels: ["name"] } as const;

/** Metrics of the controllers' queues, with the names of the reference. */
export const queueMetrics: readonly MetricDefinition[] = [
  { ...common, name: adds, type: "counter", help: "Objects that were queued, by the controller." },
  { ...common, name: depth, type: "gauge", help: "Objects that wait in the queue, by the controller." },
  {
    ...common,
    name: waited,
    type: "histogram",
    help: "Seconds that an object waited in the queue, by the controller.",
    buckets,
  },
  {
    ...common,
    name: worked,
    type: "histogram",
    help: "Seconds that the work on an object took, by the controller.",
    buckets,
  },
  {
    ...common,
    name: retries,
    type: "counter",
    help: "Objects that were requeued after a failure, by the controller.",
  },
  {
    ...common,
    name: unfinished,
    type: "gauge",
    help: "Seconds of all work in progress, by the controller.",
  },
  {
    ...common,
    name: longest,
    type: "gauge",
    help: "Seconds of the longest work in progress, by the controller.",
  },
];

/** Metrics of the queues of a server's controllers. Times are in seconds. */
export class QueueMetrics {
  /** Start times of the current work by name of the queue, in monotonic milliseconds. */
  private readonly working = new Map<string, Set<{ readonly begunAt: number }>>();
  /** Number of keys that wait or are worked on, in all queues. */
  private pending = 0;

  constructor(
    private readonly metrics: MetricSet,
    private readonly clock: Clock,
  ) {
    metrics.collectWith(() => this.collect());
  }

  /** Whether a queue has work. Keys that are retried later don't count. */
  get hasWork(): boolean {
    return this.pending > 0;
  }

  /** Waits until no queue has work, at most for a number of turns of the event loop. Keys that are retried later don't count. */
  async idle(maxTurns: number): Promise<void> {
    for (let turn = 0; turn < maxTurns && this.pending > 0; turn++) await setImmediate();
  }

  /** Returns the observer of a queue; queues with the same name are counted together. */
  observer(queue: string) {
    const sample = (name: string) => this.metrics.sample(name, queue);
    const [added, waiting, queued, work, retried] = [adds, depth, waited, worked, retries].map(sample);
    const working = this.working.get(queue) ?? new Set();
    this.working.set(queue, working);
    // A queue works on one key at a time.
    let current: { readonly begunAt: number } | undefined;
    return {
      added: () => {
        this.pending++;
        added!.inc();
        waiting!.inc();
      },
      started: (waitedSeconds: number) => {
        waiting!.dec();
        queued!.observe(waitedSeconds);
        current = { begunAt: this.clock.monotonicNow() };
        working.add(current);
      },
      done: (workedSeconds: number) => {
        this.pending--;
        if (current !== undefined) working.delete(current);
        work!.observe(workedSeconds);
      },
      retried: () => retried!.inc(),
      dropped: (count: number) => {
        this.pending -= count;
        waiting!.dec(count);
      },
    };
  }

  private collect(): void {
    const now = this.clock.monotonicNow();
    for (const [queue, working] of this.working) {
      const seconds = [...working].map(({ begunAt }) => (now - begunAt) / 1000);
      this.metrics.sample(unfinished, queue).set(seconds.reduce((sum, one) => sum + one, 0));
      this.metrics.sample(longest, queue).set(Math.max(0, ...seconds));
    }
  }
}
