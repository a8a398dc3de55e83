import type { Entry, Revision, StoreEvent } from "../../storage/store.ts";

/** One change in a selection of objects (spec: conventions 6). */
export interface WatchChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly event: StoreEvent;
  /**
   * The resource version that a DELETED shows if it isn't the revision of the event: an earlier one, so that a client which resumes there
   * receives the whole change of grants again.
   */
  readonly shownRevision?: Revision;
}

/** Receives the events of a watch; each call is synchronous. */
export interface WatchObserver {
  /**
   * Delivers changes in the order of revisions, up to and including the revision `upTo`; the list may be empty. Changes above `upTo` are
   * those of the next revision, which isn't complete: a later call has the rest.
   */
  changes(changes: readonly WatchChange[], upTo: Revision): void;
  /** The watch ended: a `StoreError` of the store, or the fault of a test. */
  ended(error: Error): void;
  /** Awaited between batches of past events; see `Listener.drained` of the store. */
  drained?(): Promise<void>;
}

/** The entry that a change shows. */
export function shownEntry({ type, event }: WatchChange): Entry {
  return (type === "DELETED" ? event.previous : event.entry) as Entry;
}

/** The same change with another shown entry. */
export function withShown(change: WatchChange, entry: Entry): WatchChange {
  const { type, event } = change;
  return { ...change, event: type === "DELETED" ? { ...event, previous: entry } : { ...event, entry } };
}

/**
 * Ends a watch whose resource type has another definition now. Every change up to the watch's position has been delivered: over HTTP the
 * response is complete, as after its time limit, and the client resumes at its last resource version with the new definition.
 */
export class DefinitionChangedError extends Error {
  override name = "DefinitionChangedError";
}
