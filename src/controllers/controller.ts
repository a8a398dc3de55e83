import type { Clock } from "../base/time/clock.ts";
import type { Client } from "../resources/clients/client.ts";
import type { ObjectInformer } from "../resources/followers/informer.ts";
import type { Registry, Resource } from "../resources/registry/registry.ts";
import type { Store } from "../storage/store.ts";
import type { QueueObserver } from "./work-queue.ts";

/** Dependencies that the server provides to every controller. */
export interface ControllerContext {
  /** Client whose requests are not authorized. */
  readonly client: Client;
  /** The served resource types: `informer(registry.require(Kind))`. */
  readonly registry: Registry;
  /** For reads only; controllers write through the client. */
  readonly store: Store;
  readonly clock: Clock;
  /** Returns the informer of a resource type. It is started and shared by all controllers. */
  informer(resource: Resource): ObjectInformer;
  /** Reports work that failed and will be retried. */
  failed(controller: string, key: string, error: unknown): void;
  /** Returns the observer that counts the work of a controller's queue; absent without metrics. */
  queueObserver?(controller: string): QueueObserver;
}

/** Dependencies of a controller with a work queue. */
export type QueueDependencies = Pick<ControllerContext, "clock" | "failed" | "queueObserver">;

/** A controller that has been started. */
export interface RunningController {
  /**
   * Returns true while a subscription of the controller is broken; `/readyz` reports this. Informers of the context are checked
   * in any case.
   */
  failing?(): boolean;
  /** Resolves when the controller has received every write that was acknowledged before. Informers of the context needn't be waited for. */
  synced?(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A controller: it watches objects and brings others to the state that they describe.
 *
 * @typeParam Dependencies what `start` uses; a controller of an embedding program gets the {@link ControllerContext}.
 */
export interface Controller<Dependencies = ControllerContext> {
  /** Name for `--controllers`; the name of the reference's controller if there is one. */
  readonly name: string;
  /** Runs only if it is named; `*` doesn't include it. */
  readonly onlyByName?: boolean;
  /** Runs on each server over a store; other controllers run on the leader only. */
  readonly onEveryServer?: boolean;
  /** Starts the controller with its dependencies. */
  readonly start: (dependencies: Dependencies) => RunningController;
}
