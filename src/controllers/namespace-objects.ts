import type { Timer } from "../base/clock.ts";
import { andThen, detach } from "../base/maybe-promise.ts";
import { isTerminating, Namespace } from "../kinds/core/namespace.ts";
import { namesOf, resourceOf } from "../resources/registry.ts";
import type { Kind } from "../schema/kind.ts";
import { StoreClosedError, type StoreEvent, type Subscription } from "../storage/store.ts";
import type { ControllerContext, QueueDependencies, RunningController } from "./controller.ts";
import { WorkQueue } from "./work-queue.ts";

/** After a failure to follow changes, it is tried again after this time. */
const retryMs = 1000;

/** Dependencies of {@link keepInNamespaces}. */
export type NamespaceDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "store" | "informer">;

/** An object that every namespace is to have. */
export interface NamespaceObject {
  /** Name of the controller that keeps it. */
  readonly controller: string;
  readonly kind: Kind;
  readonly name: string;
  /** Makes or mends it in a namespace; throwing means that it is to be tried again. */
  ensure(namespace: string): Promise<void>;
}

/** Keepers of an object in every namespace, under way. */
export interface NamespaceKeeper extends RunningController {
  failing(): boolean;
  /** Looks at every namespace again. */
  checkAll(): void;
}

/** In how many namespaces the object is seen to at a time. */
const workers = 5;

/**
 * Ensures an object in every namespace that isn't on its way out: in new ones, and again whenever the object is changed or
 * deleted. Of the objects only their changes are followed, so that those of other names cost neither time at the start nor
 * memory.
 */
export function keepInNamespaces(context: NamespaceDependencies, wanted: NamespaceObject): NamespaceKeeper {
  const { registry, client, clock } = context;
  const failed = (key: string, error: unknown) => context.failed(wanted.controller, key, error);
  const namespaces = context.informer(registry.require(Namespace));
  const queue = new WorkQueue(
    clock,
    async (namespace) => {
      const find = () => client.find<Namespace>({ apiVersion: "v1", kind: "Namespace", name: namespace });
      if (isGoing(await find())) return;
      try {
        await wanted.ensure(namespace);
      } catch (error) {
        // Meanwhile it may have begun to go, and then nothing is created in it.
        if (!isGoing(await find())) throw error;
      }
    },
    failed,
    context.queueObserver?.(wanted.controller),
    workers,
  );
  const checkAll = () => {
    for (const { metadata } of namespaces.list()) queue.add(metadata.name!);
  };
  const changes = new NamedChanges(context, wanted, {
    changed: (namespace) => queue.add(namespace),
    missed: checkAll,
    failed: (error) => failed(wanted.name, error),
  });
  changes.start();
  namespaces.listen((key, object, before) => {
    if (object !== undefined && before === undefined) queue.add(namesOf(key).name);
  });
  const close = () => {
    changes.close();
    return queue.close();
  };
  return { checkAll, failing: () => changes.failing, close };
}

function isGoing(namespace: Namespace | undefined): boolean {
  return namespace === undefined || isTerminating(namespace);
}

interface ChangeHandler {
  changed(namespace: string): void;
  /** Changes may have been missed. */
  missed(): void;
  failed(error: unknown): void;
}

/** Tells of changes of the objects with one name, in all namespaces, from the start on. */
class NamedChanges {
  private subscription: Subscription | undefined;
  private retry: Timer | undefined;
  private closed = false;
  private broken = false;
  private readonly prefix: string;
  private readonly keyEnd: string;

  constructor(
    private readonly context: Pick<ControllerContext, "registry" | "store" | "clock">,
    { kind, name }: NamespaceObject,
    private readonly handler: ChangeHandler,
  ) {
    this.prefix = resourceOf(kind, context.registry.vocabulary).stored.storePrefix;
    this.keyEnd = `/${name}`;
  }

  start(): void {
    try {
      detach(
        andThen(this.context.store.latestRevision(), (after) => {
          if (this.closed) return;
          this.broken = false;
          this.subscribe(after);
          this.handler.missed();
        }),
        (error) => this.failed(error),
      );
    } catch (error) {
      this.failed(error);
    }
  }

  /** Whether changes can't be followed at present. */
  get failing(): boolean {
    return this.broken;
  }

  close(): void {
    this.closed = true;
    this.retry?.cancel();
    this.subscription?.close();
  }

  private subscribe(after: Parameters<ControllerContext["store"]["subscribe"]>[0]["after"]): void {
    this.subscription = this.context.store.subscribe(
      { prefix: this.prefix, after },
      {
        events: (batch) => batch.forEach((event) => this.take(event)),
        ended: (error) => {
          if (!(error instanceof StoreClosedError)) this.failed(error);
        },
      },
    );
  }

  private take({ key }: StoreEvent): void {
    if (key.endsWith(this.keyEnd)) this.handler.changed(namesOf(key).namespace);
  }

  private failed(error: unknown): void {
    if (this.closed) return;
    this.broken = true;
    this.handler.failed(error);
    this.retry = this.context.clock.setTimer(() => this.start(), retryMs);
  }
}
