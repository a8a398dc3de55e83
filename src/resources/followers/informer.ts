import type { Clock } from "../../base/clock.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Entry, Store } from "../../storage/store.ts";
import { Follower } from "./follower.ts";
import { keyOf, type Resource } from "../registry/registry.ts";
import { decodeEntry } from "../objects/stored.ts";

/** Called when an object was put or removed (then `object` is undefined). */
export type InformerListener = (
  key: string,
  object: ApiObject | undefined,
  before: ApiObject | undefined,
) => void;

/** The objects of one resource type, as those see them who don't own the informer. */
export interface ObjectInformer<O extends ApiObject = ApiObject> {
  /** See {@link Follower.sync}. */
  sync(): MaybePromise<void>;
  /** Registers a listener; it is called for every object that is already known, then for each change. It must not throw. */
  listen(listener: InformerListener): void;
  /** The object, not to be changed. */
  get(namespace: string, name: string): O | undefined;
  /** Every object, not to be changed. */
  list(): IterableIterator<O>;
}

/** All objects of one resource type, decoded and kept up to date, for controllers and admission. */
export class Informer<O extends ApiObject = ApiObject> implements ObjectInformer<O> {
  private readonly objects = new Map<string, O>();
  private readonly listeners: InformerListener[] = [];
  private readonly follower: Follower;

  constructor(
    store: Store,
    private readonly resource: Resource,
    clock: Clock,
    failed: (error: unknown) => void,
  ) {
    const handler = {
      put: (entry: Entry) => this.set(entry.key, decodeEntry(entry) as O),
      remove: (key: string) => this.set(key, undefined),
      failed,
    };
    this.follower = new Follower(store, resource.storePrefix, handler, clock);
  }

  /** Resolves when everything that is stored is known. */
  start(): Promise<void> {
    return this.follower.start();
  }

  /** See {@link Follower.sync}. */
  sync(): MaybePromise<void> {
    return this.follower.sync();
  }

  /** Registers a listener and calls it for every object that is already known. */
  listen(listener: InformerListener): void {
    this.listeners.push(listener);
    for (const [key, object] of this.objects) listener(key, object, undefined);
  }

  /** The object, not to be changed. */
  get(namespace: string, name: string): O | undefined {
    return this.objects.get(keyOf(this.resource, namespace, name));
  }

  /** Every object, not to be changed. */
  list(): IterableIterator<O> {
    return this.objects.values();
  }

  /** See {@link Follower.failing}. */
  get failing(): boolean {
    return this.follower.failing;
  }

  close(): void {
    this.follower.close();
  }

  private set(key: string, object: O | undefined): void {
    const before = this.objects.get(key);
    if (object === undefined) this.objects.delete(key);
    else this.objects.set(key, object);
    for (const listener of this.listeners) listener(key, object, before);
  }
}
