import type { Entry, Listener, Revision, StoreEvent, Subscription } from "../storage/store.ts";
import { convertingStore, refreshingStore } from "./converted-engine.ts";
import { ConvertedWatch } from "./converted-watch.ts";
import type { Engine, Target } from "./engine.ts";
import { prefixOf } from "./registry.ts";
import type { Selection } from "./selection.ts";
import { bodyAt, headerOf, type Header } from "./stored.ts";
import type { WatchChange, WatchObserver } from "./watch-change.ts";

export type { WatchChange, WatchObserver } from "./watch-change.ts";

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
  const prefix = prefixOf(target.resource, target.namespace);
  const { custom } = target.resource.kind;
  const changes = changesIn(engine, target);
  if (custom?.converter !== undefined) {
    const store = convertingStore(engine, target.resource, custom.converter);
    return new ConvertedWatch(store, observer, after).start(
      (batch) => changes(batch, selection),
      (listener) => engine.store.subscribe({ prefix, after }, listener),
    );
  }
  const listener: Listener = {
    events: (batch, upTo) => observer.changes(changes(batch, selection), upTo),
    ended: (error) => observer.ended(error),
    ...(observer.drained === undefined ? {} : { drained: () => observer.drained!() }),
  };
  return engine.store.subscribe({ prefix, after }, listener);
}

/** Tells what a selection sees of a batch; of a custom kind as its present schema reads the objects. */
function changesIn(engine: Engine, { resource }: Target): typeof changesOf {
  if (resource.kind.custom === undefined) return changesOf;
  const store = refreshingStore(engine, resource.stored);
  return (batch, selection) => store.showChanges(changesOf(batch, selection));
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
