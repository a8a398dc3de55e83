import { storeMethods } from "../storage/guarded-store.ts";
import { StoreUnavailableError, type Store } from "../storage/store.ts";

/**
 * Returns a store that writes only while this server is the leader. So a process that was suspended, and resumes while
 * another server leads, can't finish its writes.
 *
 * A write fails with {@link StoreUnavailableError} if the server is no longer the leader.
 *
 * @param holds returns true while this server is the leader.
 */
export function fencedStore(store: Store, holds: () => boolean): Store {
  const methods = storeMethods.map((name) => [name, (store[name] as () => unknown).bind(store)]);
  const whileLeading = async <T>(write: () => Promise<T>): Promise<T> => {
    if (!holds()) throw new StoreUnavailableError("this server doesn't lead any more");
    return write();
  };
  return {
    ...(Object.fromEntries(methods) as Store),
    transactionLimits: store.transactionLimits,
    history: store.history,
    commit: (write) => whileLeading(() => store.commit(write)),
    transact: (writes) => whileLeading(() => store.transact(writes)),
  };
}
