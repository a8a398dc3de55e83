import type { Revision } from "../store.ts";
import type { Environment } from "./databases.ts";
import { encodeState } from "./layout.ts";
import { soundStateIn } from "./stored-state.ts";

/**
 * Continues a store at a later revision, with its floor there and without history. Clients that have seen revisions between, which were
 * lost, are told that theirs are no longer retained; no reader takes a new write for a lost one. Must be called in a write transaction
 * that is synced.
 */
export function skipRevisions({ meta, log, history, marks }: Environment, to: Revision): void {
  const { markTime } = soundStateIn(meta.getBinary("state"));
  for (const database of [log, history, marks]) database.clearSync();
  meta.putSync("state", encodeState({ revision: to, floor: to, markTime, batch: 0 }));
}
