import type {
  Entry,
  Listener,
  Revision,
  Store,
  StoreEvent,
  SubscribeOptions,
  Subscription,
} from "../../storage/store.ts";
import type { Engine, Target } from "../engine/engine.ts";
import { prefixOf } from "../registry/registry.ts";
import type { Selection } from "../objects/selection.ts";
import { bodyAt, headerOf, type Header } from "../objects/stored.ts";
import type { WatchSource } from "../registry/versioned-storage.ts";
import type { WatchChange, WatchObserver } from "../registry/watch-change.ts";

export type { WatchChange, WatchObserver } from "../registry/watch-change.ts";

/**
 * Watches a collection (spec: conventions 4.6) from after a revision on. The state before is the caller's to list.
 *
 * Watchers with the same collection and selection get the same array of changes, so that what is derived from it can
 * be shared.
 */
export function watchObjects(
  engine: Engine,
  target: Target,
  selection: Selection,
  after: Revision,
  observer: WatchObserver,
): Subscription {
  const { resource, namespace } = target;
  const options = { prefix: prefixOf(resource, namespace), after };
  if (resource.storage === undefined) return subscribe(engine.store, options, selection, observer);
  const source: WatchSource = (inner) => subscribe(engine.store, options, selection, inner);
  return resource.storage.viewOf(engine.store).watch(source, observer, after);
}

/** Subscribes an observer to the changes that a selection sees, as they are stored. */
function subscribe(
  store: Store,
  options: SubscribeOptions,
  selection: Selection,
  observer: WatchObserver,
): Subscription {
  const listener: Listener = {
    events: (batch, upTo) => observer.changes(changesOf(batch, selection), upTo),
    ended: (error) => observer.ended(error),
    ...(observer.drained === undefined ? {} : { drained: () => observer.drained!() }),
  };
  return store.subscribe(options, listener);
}

const none: readonly WatchChange[] = [];

/** A batch as all its watchers see it. */
class SharedBatch {
  private readonly bySelection = new Map<string, readonly WatchChange[]>();
  private readonly headers = new Map<Entry, Header>();

  constructor(private readonly batch: readonly StoreEvent[]) {}

  /** The batch as a selection sees it; computed once for all watchers of the same selection. */
  changes(selection: Selection): readonly WatchChange[] {
    let changes = this.bySelection.get(selection.text);
    if (changes === undefined) this.bySelection.set(selection.text, (changes = this.select(selection)));
    return changes;
  }

  private select(selection: Selection): readonly WatchChange[] {
    let changes: WatchChange[] | undefined;
    for (const event of this.batch) {
      if (event.entry === undefined && event.previous === undefined) {
        // Nobody could tell who saw the object; ending the watch makes its client list again.
        throw new Error(`the store tells of the deletion of ${event.key} without the value that was deleted`);
      }
      const is = event.entry !== undefined && selection.matches(event.entry, this.header);
      const was = event.previous !== undefined && selection.matches(event.previous, this.header);
      if (is) (changes ??= []).push({ type: was ? "MODIFIED" : "ADDED", event });
      else if (was) (changes ??= []).push({ type: "DELETED", event });
    }
    return changes ?? none;
  }

  /** Reads a header once, however many selections ask. */
  private readonly header = (entry: Entry): Header => {
    let header = this.headers.get(entry);
    if (header === undefined) this.headers.set(entry, (header = headerOf(entry)));
    return header;
  };
}

const shared = new WeakMap<readonly StoreEvent[], SharedBatch>();

function changesOf(batch: readonly StoreEvent[], selection: Selection): readonly WatchChange[] {
  if (batch.length === 0) return none;
  let known = shared.get(batch);
  if (known === undefined) shared.set(batch, (known = new SharedBatch(batch)));
  return known.changes(selection);
}

/**
 * The bytes of the object that a change shows: as it now stands, or, where it left the selection, as it stood, with
 * the revision at which it left.
 */
export function bodyOf(change: WatchChange): Uint8Array {
  const { event } = change;
  if (change.type !== "DELETED") return (event.entry as Entry).body;
  return bodyAt(event.previous as Entry, event.revision);
}
