import { setTimeout } from "node:timers/promises";
import type { StoreEvent } from "../../../src/storage/store.ts";
import { override, type Engine } from "./engine.ts";

/** Delay of late events, in milliseconds. */
const lateMs = 60;

/** Delivers new RoleBindings late to those who decide by them. */
export function lateGrant(): Engine {
  return lateBindings(({ key, entry }) => isBinding(key) && entry !== undefined);
}

/** Delivers the deletion of RoleBindings late to those who decide by them. */
export function lateRemoval(): Engine {
  return lateBindings(({ key, entry }) => isBinding(key) && entry === undefined);
}

const isBinding = (key: string) => key.includes("/rolebindings/");

function lateBindings(isLate: (event: StoreEvent) => boolean): Engine {
  return (store) =>
    override(store, {
      subscribe(options, listener) {
        if (options.prefix !== "/rbac.authorization.platform.io/") return store.subscribe(options, listener);
        let delivered = Promise.resolve();
        return store.subscribe(options, {
          ...listener,
          ended: (error) => listener.ended(error),
          events(batch, upTo) {
            delivered = delivered.then(async () => {
              if (batch.some(isLate)) await setTimeout(lateMs);
              listener.events(batch, upTo);
            });
          },
        });
      },
    });
}

/** Ignores the conditions of writes, by which servers keep to a quota together. */
export function ignoredConditions(): Engine {
  return (store) =>
    override(store, {
      async commit(write) {
        if (!write.key.startsWith("/core/configmaps/limited/")) return store.commit(write);
        // Gives the other server time to decide by the same usage.
        await setTimeout(20);
        return store.commit({ ...write, conditions: undefined });
      },
    });
}

/** Grants addresses and ports that others have. */
export function doubleAllocation(): Engine {
  const isClaim = (key: string) => key.startsWith("/core/service-claims/");
  return (store) =>
    override(store, {
      get: (key, at) => (isClaim(key) ? undefined : store.get(key, at)),
      async commit(write) {
        const result = await store.commit(write);
        if (result.ok || write.kind !== "create" || !isClaim(write.key) || result.current === undefined)
          return result;
        return { ok: true, revision: result.current.revision, entry: result.current };
      },
    });
}
