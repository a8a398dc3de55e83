import { Follower } from "../resources/follower.ts";
import { namesOf } from "../resources/registry.ts";
import { asBuffer } from "../resources/stored.ts";
import type { ApiObject, Kind } from "../schema/kind.ts";
import type { Entry } from "../storage/store.ts";
import type { ControllerContext, QueueDependencies, RunningController } from "./controller.ts";
import { WorkQueue } from "./work-queue.ts";

/** Which objects a controller looks at, and what it does with each. */
export interface Reconciliation<O extends ApiObject> {
  /** Name of the controller. */
  readonly controller: string;
  readonly kind: Kind;
  /** Whether a stored object may concern the controller, by its bytes: the others aren't decoded. */
  matters(body: Buffer): boolean;
  /**
   * Brings an object, as it is stored now, to its desired state.
   *
   * @returns after how many milliseconds to look at it again, if nothing changes before; undefined: not at all.
   */
  reconcile(object: O): Promise<number | undefined>;
  /** The object is gone. */
  removed?(namespace: string, name: string): void;
}

/** Dependencies of {@link reconcileMatching}. */
export type ReconciliationDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "store">;

/** A reconciliation under way. */
export interface RunningReconciliation extends RunningController {
  failing(): boolean;
  /** Has an object looked at again. */
  add(namespace: string, name: string): void;
}

/** How many objects are reconciled at a time. */
const workers = 5;

/**
 * Reconciles the objects of a kind that matter, when they are made and whenever they change. It remembers their names only.
 * Where the kind isn't served, nothing is done.
 */
export function reconcileMatching<O extends ApiObject>(
  context: ReconciliationDependencies,
  { controller, kind, matters, reconcile, removed }: Reconciliation<O>,
): RunningReconciliation {
  const { registry, client, clock, store } = context;
  if (!registry.serves(kind))
    return { add: () => undefined, failing: () => false, close: () => Promise.resolve() };
  const { apiVersion, storePrefix } = registry.require(kind).stored;
  const keyOf = (namespace: string, name: string) => `${namespace}/${name}`;
  const queue = new WorkQueue(
    clock,
    async (key) => {
      const slash = key.indexOf("/");
      const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)];
      const object = await client.find<O>({ apiVersion, kind: kind.name, namespace, name });
      const againMs = object === undefined ? undefined : await reconcile(object);
      if (againMs !== undefined) queue.addLater(key, againMs);
    },
    (key, error) => context.failed(controller, key, error),
    context.queueObserver?.(controller),
    workers,
  );
  const add = (namespace: string, name: string) => queue.add(keyOf(namespace, name));
  const follower = new Follower(
    store,
    storePrefix,
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
