import { storeMethods } from "../storage/guarded-store.ts";
import { StoreUnavailableError, type CommitResult, type Store, type Write } from "../storage/store.ts";

/**
 * A store for the work of a leader: it writes only while the server leads. So a process that was stopped for a while, and wakes
 * when another one leads, doesn't finish what it had begun.
 *
 * A write fails with {@link StoreUnavailableError} when the server doesn't lead any more.
 */
export function fencedStore(store: Store, holds: () => boolean): Store {
  const methods = storeMethods.map((name) => [name, (store[name] as () => unknown).bind(store)]);
  const commit = async (write: Write): Promise<CommitResult> => {
    if (!holds()) throw new StoreUnavailableError("this server doesn't lead any more");
    return store.commit(write);
  };
  return { ...(Object.fromEntries(methods) as Store), commit };
}
