import type {
  Entry,
  Listener,
  Store,
  StoreEvent,
  SubscribeOptions,
  Subscription,
} from "../../../src/storage/store.ts";

/** Makes a broken store from a sound one. */
export type Engine = (store: Store) => Store;

/** Returns a store with some methods replaced. */
export function override(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof method === "function" ? (method.bind(target) as unknown) : method;
    },
  });
}

/** Returns a function that returns true at every n-th call. */
export function every(n: number): () => boolean {
  let calls = 0;
  return () => ++calls % n === 0;
}

/** Keys of the objects that engines handle wrongly; the others keep the servers running. */
export function isConfigMap(key: string): boolean {
  return key.startsWith("/core/configmaps/a/") || key.startsWith("/core/configmaps/b/");
}

/** Returns an engine whose subscriptions treat each event as `deliver` does. */
export function withEvents(
  deliver: (event: StoreEvent, next: (...events: StoreEvent[]) => void) => void,
): Engine {
  return (store) =>
    override(store, {
      subscribe(options: SubscribeOptions, listener: Listener): Subscription {
        return store.subscribe(options, {
          ...listener,
          ended: (error) => listener.ended(error),
          events(batch, upTo) {
            for (const event of batch) deliver(event, (...events) => listener.events(events, upTo));
          },
        });
      },
    });
}

/** Returns an engine whose reads of single ConfigMaps are replaced. */
export function withReads(
  read: (entry: Entry | undefined, store: Store) => Promise<Entry | undefined>,
): Engine {
  return (store) =>
    override(store, {
      async get(key, at) {
        const entry = await store.get(key, at);
        return isConfigMap(key) ? read(entry, store) : entry;
      },
    });
}
