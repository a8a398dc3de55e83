import { detach } from "../../base/turns/maybe-promise.ts";
import { endHistory, hasPins, keepHistory } from "../../storage/history/history-store.ts";
import { StoreClosedError, type Store } from "../../storage/store.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { keptCollections, type KeptCollections } from "./kept-collections.ts";

const noRules: KeptCollections = { collections: new Map(), custom: undefined, retentionOf: () => undefined };

/**
 * Returns the store with the kept history of option `keptHistory`, and with pins if it has some. Without either it is the store itself, and
 * history that was kept before is removed in the background.
 *
 * @param needsPins whether pins will be made.
 * @throws {OptionsError} a rule of the option is wrong.
 * @throws {StoreError} the settings of the history can't be read or written.
 */
export async function keptStore(options: ServerOptions, store: Store, needsPins: boolean): Promise<Store> {
  const { clock, log, committer } = options;
  const failed = (error: unknown) => {
    // The server stops.
    if (error instanceof StoreClosedError) return;
    log.warn({ error: String(error) }, "the kept history can't be maintained; retrying");
  };
  const rules = keptCollections(options);
  // The process that commits for this one also drops what is too old.
  const drops = committer === undefined;
  const pins = needsPins || (await hasPins(store));
  if (rules === undefined && !pins) {
    if (drops) detach(endHistory(store), failed);
    return store;
  }
  const { collections, custom, retentionOf } = rules ?? noRules;
  const others = custom && { ...custom, isIncluded: (one: string) => retentionOf(one) !== undefined };
  return keepHistory(store, { clock, collections, others, pins, drops, failed });
}
