import { detach } from "../../base/turns/maybe-promise.ts";
import { endHistory, keepHistory } from "../../storage/history/history-store.ts";
import { StoreClosedError, type Store } from "../../storage/store.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { keptCollections } from "./kept-collections.ts";

/**
 * Returns the store with the kept history of option `keptHistory`. Without the option it is the store itself, and history that was kept
 * before is removed in the background.
 *
 * @throws {OptionsError} a rule of the option is wrong.
 * @throws {StoreError} the settings of the history can't be read or written.
 */
export async function keptStore(options: ServerOptions, store: Store): Promise<Store> {
  const { clock, log, committer } = options;
  const failed = (error: unknown) => {
    // The server stops.
    if (error instanceof StoreClosedError) return;
    log.warn({ error: String(error) }, "the kept history can't be maintained; retrying");
  };
  const rules = keptCollections(options);
  // The process that commits for this one also drops what is too old.
  const drops = committer === undefined;
  if (rules === undefined) {
    if (drops) detach(endHistory(store), failed);
    return store;
  }
  const { collections, custom, retentionOf } = rules;
  const others = custom && { ...custom, isIncluded: (one: string) => retentionOf(one) !== undefined };
  return keepHistory(store, { clock, collections, others, drops, failed });
}
