import type { Timer } from "../base/time/clock.ts";
import { andThen, detach } from "../base/turns/maybe-promise.ts";
import { isTerminating, Namespace } from "../kinds/core/namespace.ts";
import { namesOf, resourceOf } from "../resources/registry/registry.ts";
import type { Kind } from "../schema/kind.ts";
import { StoreClosedError, type StoreEvent, type Subscription } from "../storage/store.ts";
import type { ControllerContext, QueueDependencies, RunningController } from "./controller.ts";
import { WorkQueue } from "./work-queue.ts";

/** Delay before a failed subscription is retried. */
const retryMs = 1000;

/** Dependencies of {@link keepInNamespaces}. */
export type NamespaceDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "store" | "informer">;

/** An object that must exist in every namespace. */
export interface NamespaceObject {
  /** Name of the controller that maintains it. */
  readonly controller: string;
  readonly kind: Kind;
  readonly name: string;
  /** Creates or corrects the object in a namespace. If it throws, it is called again later. */
  ensure(namespace: string): Promise<void>;
}

/** A running controller that maintains an object in every namespace. */
export interface NamespaceKeeper extends RunningController {
  failing(): boolean;
  /** Checks every namespace again. */
  checkAll(): void;
}

/** Number of namespaces that are checked concurrently. */
const workers = 5;

/**
 * Ensures an object in every namespace that isn't terminating: when the namespace is created, and whenever the object
 * is changed or deleted. Only changes of the objects are followed, so objects with other names cost neither time at the
 * start nor memory.
 */
export function keepInNamespaces(context: NamespaceDependencies, target: NamespaceObject): NamespaceKeeper {
  const { registry, client, clock } = context;
  const failed = (key: string, error: unknown) => context.failed(target.controller, key, error);
  const namespaces = context.informer(registry.require(Namespace));
  const queue = new WorkQueue(
    clock,
    async (namespace) => {
      const find = () => client.find<Namespace>({ apiVersion: "v1", kind: "Namespace", name: namespace });
      if (isTerminatingOrAbsent(await find())) return;
      try {
        await target.ensure(namespace);
      } catch (error) {
        // Nothing can be created in a namespace that has started to terminate meanwhile.
        if (!isTerminatingOrAbsent(await find())) throw error;
      }
    },
    failed,
    context.queueObserver?.(target.controller),
    workers,
  );
  const checkAll = () => {
    for (const { metadata } of namespaces.list()) queue.add(metadata.name!);
  };
  const changes = new NamedChanges(context, target, {
    changed: (namespace) => queue.add(namespace),
    missed: checkAll,
    failed: (error) => failed(target.name, error),
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

function isTerminatingOrAbsent(namespace: Namespace | undefined): boolean {
  return namespace === undefined || isTerminating(namespace);
}

interface ChangeHandler {
  changed(namespace: string): void;
  /** Changes may have been missed; every namespace must be checked. */
  missed(): void;
  failed(error: unknown): void;
}

/** Reports changes of the objects with one name, in all namespaces, from the start of the subscription. */
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

  /** True while the subscription is broken. */
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
        events: (batch) => batch.forEach((event) => this.handle(event)),
        ended: (error) => {
          if (!(error instanceof StoreClosedError)) this.failed(error);
        },
      },
    );
  }

  private handle({ key }: StoreEvent): void {
    if (key.endsWith(this.keyEnd)) this.handler.changed(namesOf(key).namespace);
  }

  private failed(error: unknown): void {
    if (this.closed) return;
    this.broken = true;
    this.handler.failed(error);
    this.retry = this.context.clock.setTimer(() => this.start(), retryMs);
  }
}
