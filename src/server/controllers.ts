import { builtInControllers } from "../controllers/all.ts";
import type { RunningController } from "../controllers/controller.ts";
import type { Client } from "../resources/client.ts";
import { Informer } from "../resources/informer.ts";
import type { Registry, Resource } from "../resources/registry.ts";
import type { Store } from "../storage/store.ts";
import { stackOf, type ServerOptions } from "./options.ts";

interface ControllerSetup {
  readonly options: ServerOptions;
  readonly registry: Registry;
  readonly store: Store;
  readonly client: Client;
}

/** Starts every controller; they and their informers know everything that is stored when the promise resolves. */
export async function startControllers({
  options,
  registry,
  store,
  client,
}: ControllerSetup): Promise<RunningController> {
  const informers = new Map<Resource, Informer>();
  const { clock, log, eventLifeMs } = options;
  const started: Promise<void>[] = [];
  const informer = (resource: Resource) => {
    let found = informers.get(resource);
    if (found === undefined) {
      found = new Informer(store, resource, clock, (error) =>
        log.error({ error: stackOf(error), resource: resource.name }, "following failed"),
      );
      informers.set(resource, found);
      started.push(found.start());
    }
    return found;
  };
  const failed = (controller: string, key: string, error: unknown) => {
    log.warn({ controller, key, error: String(error) }, "a controller's work failed and will be tried again");
  };
  const running = builtInControllers.map((one) =>
    one.start({ client, registry, store, clock, eventLifeMs, informer, failed }),
  );
  await Promise.all(started);
  return {
    async close() {
      await Promise.all(running.map((one) => one.close()));
      for (const one of informers.values()) one.close();
    },
  };
}
