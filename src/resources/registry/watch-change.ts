import type { Entry, Revision, StoreError, StoreEvent } from "../../storage/store.ts";

/** One change as a watcher of a selection sees it (spec: conventions 6). */
export interface WatchChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly event: StoreEvent;
}

/** Receives the events of a watch; each call is synchronous. */
export interface WatchObserver {
  /** Changes in order; after the call every change up to `upTo` has been delivered. May be empty. */
  changes(changes: readonly WatchChange[], upTo: Revision): void;
  /** The watch ended by itself. */
  ended(error: StoreError): void;
  /** Asked between portions of the past; see `Listener.drained` of the store. */
  drained?(): Promise<void>;
}

/** The entry that a change shows. */
export function shownEntry({ type, event }: WatchChange): Entry {
  return (type === "DELETED" ? event.previous : event.entry) as Entry;
}

/** A change that shows another entry in the place of its own. */
export function withShown({ type, event }: WatchChange, entry: Entry): WatchChange {
  return { type, event: type === "DELETED" ? { ...event, previous: entry } : { ...event, entry } };
}
