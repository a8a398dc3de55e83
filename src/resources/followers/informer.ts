import type { Clock } from "../../base/time/clock.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Entry, Store } from "../../storage/store.ts";
import { EntryValues, Follower } from "./follower.ts";
import { keyOf, type Resource } from "../registry/registry.ts";
import { decodeEntry } from "../objects/stored.ts";

/** Called when an object was created, changed or removed; `object` is undefined if it was removed. */
export type InformerListener = (
  key: string,
  object: ApiObject | undefined,
  before: ApiObject | undefined,
) => void;

/** A cache of all objects of one resource type, kept up to date by a watch. */
export interface ObjectInformer<O extends ApiObject = ApiObject> {
  /** Waits until the informer has every write, by any process, that was acknowledged before the call. Throws while it can't follow the store. */
  sync(): MaybePromise<void>;
  /** Registers a listener. It is called for every cached object, then for each change. It must not throw. */
  listen(listener: InformerListener): void;
  /** The object; it must not be changed. */
  get(namespace: string, name: string): O | undefined;
  /** All objects; they must not be changed. */
  list(): IterableIterator<O>;
}

const decodedEntries = new EntryValues<ApiObject>();

/** Decodes an object, which must not be changed; for `lasting` see {@link EntryValues}. */
export function decodedEntry(entry: Entry, lasting: boolean): ApiObject {
  return decodedEntries.of(entry, lasting, decodeEntry);
}

/** Cache of all objects of one resource type, decoded and up to date. */
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
      put: (entry: Entry, _created: boolean, lasting: boolean) =>
        this.set(entry.key, decodedEntry(entry, lasting) as O),
      remove: (key: string) => this.set(key, undefined),
      failed,
    };
    this.follower = new Follower(store, resource.storePrefix, handler, clock);
  }

  /** Resolves when all stored objects are cached. */
  start(): Promise<void> {
    return this.follower.start();
  }

  /** See {@link Follower.sync}. */
  sync(): MaybePromise<void> {
    return this.follower.sync();
  }

  /** See {@link ObjectInformer.listen}. */
  listen(listener: InformerListener): void {
    this.listeners.push(listener);
    for (const [key, object] of this.objects) listener(key, object, undefined);
  }

  /** The object; it must not be changed. */
  get(namespace: string, name: string): O | undefined {
    return this.objects.get(keyOf(this.resource, namespace, name));
  }

  /** All objects; they must not be changed. */
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
