import type { MetricDefinition } from "./metric-definition.ts";
import type { MetricSet } from "./metric-set.ts";

const adds = "workqueue_adds_total";
const depth = "workqueue_depth";
const waited = "workqueue_queue_duration_seconds";
const worked = "workqueue_work_duration_seconds";
const retries = "workqueue_retries_total";
const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10];
const common = { stability: "ALPHA", labels: ["name"] } as const;

/** The metrics of the controllers' queues, under the names that the field knows. */
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
    help: "Objects that were queued again because their work had failed, by the controller.",
  },
];

/** Gives what happens in a controller's queue to the metrics. Times are in seconds. */
export function queueObserver(metrics: MetricSet, controller: string) {
  const sample = (name: string) => metrics.sample(name, controller);
  const [added, waiting, queued, work, retried] = [adds, depth, waited, worked, retries].map(sample);
  return {
    added() {
      added!.inc();
      waiting!.inc();
    },
    taken(waitedSeconds: number) {
      waiting!.dec();
      queued!.observe(waitedSeconds);
    },
    done: (workedSeconds: number) => work!.observe(workedSeconds),
    retried: () => retried!.inc(),
    dropped: (count: number) => waiting!.dec(count),
  };
}
