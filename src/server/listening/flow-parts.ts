import { FlowConfiguration } from "../../controllers/flow/flow-configuration.ts";
import type { FlowControl } from "../../flow/flow-control.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import { QueueMetrics } from "../../http/metrics/queue-metrics.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { Opened } from "../start/opened.ts";
import { flowControl } from "./flow-limits.ts";

/** The dependencies of {@link flowParts}. */
interface Dependencies {
  readonly registry: Registry;
  readonly store: Store;
  readonly opened: Opened;
  readonly engine: Engine;
  readonly client: Client;
  readonly metrics: MetricSet;
}

/**
 * Creates flow control, the maintenance of its configuration objects, and the metrics of its and the controllers'
 * queues.
 */
export function flowParts(
  options: ServerOptions,
  { registry, store, opened, engine, client, metrics }: Dependencies,
): { control: FlowControl | undefined; flow: FlowConfiguration; queues: QueueMetrics } {
  const control = flowControl(options, engine, metrics);
  const queues = new QueueMetrics(metrics, options.clock);
  const queueObserver = (name: string) => queues.observer(name);
  const upkeep = { ...options, registry, store, client, control, queueObserver };
  const flow = opened.add(new FlowConfiguration(upkeep), (one) => one.close());
  return { control, flow, queues };
}
