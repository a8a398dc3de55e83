import { Follower } from "../resources/followers/follower.ts";
import { namesOf } from "../resources/registry/registry.ts";
import { asBuffer } from "../resources/objects/stored.ts";
import type { ApiObject, Kind } from "../schema/kind.ts";
import type { Entry } from "../storage/store.ts";
import type { ControllerContext, QueueDependencies, RunningController } from "./controller.ts";
import { WorkQueue } from "./work-queue.ts";

/** Selects the objects that a controller reconciles, and reconciles one. */
export interface Reconciliation<O extends ApiObject> {
  /** Name of the controller. */
  readonly controller: string;
  readonly kind: Kind;
  /** Returns true if a stored object may concern the controller, judged by its bytes; other objects aren't decoded. */
  matters(body: Buffer): boolean;
  /**
   * Brings an object, as currently stored, to its desired state.
   *
   * @returns after how many milliseconds to reconcile it again if it doesn't change before; undefined for never.
   */
  reconcile(object: O): Promise<number | undefined>;
  /** Called when an object was deleted. */
  removed?(namespace: string, name: string): void;
}

/** Dependencies of {@link reconcileMatching}. */
export type ReconciliationDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "store">;

/** A running reconciliation. */
export interface RunningReconciliation extends RunningController {
  failing(): boolean;
  /** Reconciles an object again. */
  add(namespace: string, name: string): void;
}

/** Number of objects that are reconciled concurrently. */
const workers = 5;

/**
 * Reconciles the matching objects of a kind when they are created and whenever they change. It keeps only their names
 * in memory. If the kind isn't served, it does nothing.
 */
export function reconcileMatching<O extends ApiObject>(
  context: ReconciliationDependencies,
  { controller, kind, matters, reconcile, removed }: Reconciliation<O>,
): RunningReconciliation {
  const { registry, client, clock, store } = context;
  if (!registry.serves(kind))
    return { add: () => undefined, failing: () => false, close: () => Promise.resolve() };
  // The stored version may not be served.
  const { apiVersion, stored } = registry.require(kind);
  const keyOf = (namespace: string, name: string) => `${namespace}/${name}`;
  const queue = new WorkQueue(
    clock,
    async (key) => {
      const slash = key.indexOf("/");
      const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)];
      const object = await client.find<O>({ apiVersion, kind: kind.name, namespace, name });
      const delayMs = object === undefined ? undefined : await reconcile(object);
      if (delayMs !== undefined) queue.addLater(key, delayMs);
    },
    (key, error) => context.failed(controller, key, error),
    context.queueObserver?.(controller),
    workers,
  );
  const add = (namespace: string, name: string) => queue.add(keyOf(namespace, name));
  const follower = new Follower(
    store,
    stored.storePrefix,
    {
      matters: ({ body }: Entry) => matters(asBuffer(body)),
      put(entry: Entry) {
        const { namespace, name } = namesOf(entry.key);
        add(namespace, name);
      },
      remove(key: string) {
        const { namespace, name } = namesOf(key);
        removed?.(namespace, name);
      },
      failed: (error) => context.failed(controller, kind.resource, error),
    },
    clock,
  );
  follower.startInBackground();
  return {
    add,
    failing: () => follower.failing,
    close() {
      follower.close();
      return queue.close();
    },
  };
}
