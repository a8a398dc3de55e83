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
import { watchInterceptorOf } from "../engine/request-faults.ts";
import { prefixOf } from "../registry/registry.ts";
import type { Selection } from "../objects/selection.ts";
import type { FollowedView } from "../objects/followed-view.ts";
import { bodyAt, headerOf, type Header } from "../objects/stored.ts";
import type { WatchSource } from "../registry/versioned-storage.ts";
import type { WatchChange, WatchObserver } from "../registry/watch-change.ts";
import { ViewWatch } from "./view-watch.ts";

export type { WatchChange, WatchObserver } from "../registry/watch-change.ts";

/** Where a watch begins. */
export interface WatchStart {
  /** The revision after which it begins. */
  readonly after: Revision;
  /**
   * Whether several changes with the revision `after` are sent too, since the client may have received only the first of them. A
   * single one isn't.
   */
  readonly repeatsTransaction?: boolean;
}

/*
 * Invariants of watches, from the store to the client. The feed (`storage/feed.ts`) and this folder keep them; the tests of views, merged
 * watches and deferred deliveries check each of them with random runs.
 *
 * Events. A subscription receives every event of its prefix once, in the order of revisions; those of a transaction again if its client
 * continues at their revision, because all of them have the same one. A watch shows an object in the version of its
 * resource type; it ends when the definition of a custom resource is replaced (`definition-watches.ts`).
 * Positions. A watch has delivered every change up to and including its position, and none is skipped if it is closed and begins again
 * there. A position is never ahead of what the observer has received; it may be behind.
 * Deferral. A batch stays with its group until every member has received it, also members that were ahead when the round visited them
 * (`deferred-deliveries.ts`).
 * Grants. A change of grants is one unit at one revision: the objects that it shows, those that it hides, and the event of the revision
 * itself. A unit may be delivered in parts. Until its last part, `upTo` and the position are before its revision, and so is every revision
 * that a client may resume after (`grant-changes.ts`).
 * Merging. Changes of several watches are in the order of revisions; of equal revisions the first watch is first. A part of a unit is passed
 * on as soon as no earlier change can follow, because the watch that sends it waits until it is read: no watch waits for another one
 * that waits for it (`merged-watch.ts`).
 */

/**
 * Watches a collection (spec: conventions 4.6). Watches with the same collection and selection get the same array of changes, so that their
 * encodings can be shared.
 *
 * @param view limits the watch to the objects that its user may get; it was opened at `start.after` and is closed with the watch.
 */
export function watchObjects(
  engine: Engine,
  target: Target,
  selection: Selection,
  start: WatchStart,
  observer: WatchObserver,
  view?: FollowedView,
): Subscription {
  const begin = (receiver: WatchObserver) => watchIn(engine, target, selection, start, receiver, view);
  const intercept = watchInterceptorOf(engine);
  return intercept === undefined ? begin(observer) : intercept(observer, begin);
}

function watchIn(
  engine: Engine,
  target: Target,
  selection: Selection,
  start: WatchStart,
  observer: WatchObserver,
  view: FollowedView | undefined,
): Subscription {
  const { resource, namespace } = target;
  const { store, clock } = engine;
  const { after } = start;
  const options = { ...start, prefix: prefixOf(resource, namespace) };
  const source: WatchSource = (receiver) => {
    if (view === undefined) return subscribe(store, options, selection, receiver);
    const watch = new ViewWatch({ store, clock, target, selection }, view, receiver, after);
    return watch.start((inner) => subscribe(store, options, selection, inner));
  };
  if (resource.storage === undefined) return source(observer);
  return resource.storage.viewOf(store).watch(source, observer, after);
}

/** Subscribes an observer to the changes that a selection sees, as they are stored. */
function subscribe(
  store: Store,
  options: SubscribeOptions,
  selection: Selection,
  observer: WatchObserver,
): Subscription {
  let repeats = options.repeatsTransaction === true;
  const listener: Listener = {
    events: (batch, upTo) => {
      const changes = changesOf(batch, selection);
      observer.changes(repeats ? withoutSingle(changes, options.after) : changes, upTo);
      // The first batch has all of the revision.
      repeats = false;
    },
    ended: (error) => observer.ended(error),
    ...(observer.drained === undefined ? {} : { drained: () => observer.drained!() }),
  };
  const selects = (batch: readonly StoreEvent[]) => changesOf(batch, selection).length > 0;
  return store.subscribe({ ...options, deferral: { key: selection.text, selects } }, listener);
}

/** Returns the changes without that of a revision, if there is only one: who continues there has received it. */
function withoutSingle(changes: readonly WatchChange[], revision: Revision): readonly WatchChange[] {
  if (changes[0]?.event.revision !== revision || changes[1]?.event.revision === revision) return changes;
  return changes.slice(1);
}

const none: readonly WatchChange[] = [];

/** A batch of events, shared by all watches that receive it. */
class SharedBatch {
  private readonly bySelection = new Map<string, readonly WatchChange[]>();
  private readonly headers = new Map<Entry, Header>();

  constructor(private readonly batch: readonly StoreEvent[]) {}

  /** The changes of the batch in a selection; computed once for all watches with the same selection. */
  changes(selection: Selection): readonly WatchChange[] {
    let changes = this.bySelection.get(selection.text);
    if (changes === undefined) this.bySelection.set(selection.text, (changes = this.select(selection)));
    return changes;
  }

  private select(selection: Selection): readonly WatchChange[] {
    let changes: WatchChange[] | undefined;
    for (const event of this.batch) {
      if (event.entry === undefined && event.previous === undefined) {
        // It is unknown which selections had the object; the error ends the watch, so its client lists again.
        throw new Error(`the store's deletion event of ${event.key} lacks the deleted value`);
      }
      const is = event.entry !== undefined && selection.matches(event.entry, this.header);
      const was = event.previous !== undefined && selection.matches(event.previous, this.header);
      if (is) (changes ??= []).push({ type: was ? "MODIFIED" : "ADDED", event });
      else if (was) (changes ??= []).push({ type: "DELETED", event });
    }
    return changes ?? none;
  }

  /** Reads the header of an entry, once for all selections. */
  private readonly header = (entry: Entry): Header => {
    let header = this.headers.get(entry);
    if (header === undefined) this.headers.set(entry, (header = headerOf(entry)));
    return header;
  };
}

const shared = new WeakMap<readonly StoreEvent[], SharedBatch>();

function changesOf(batch: readonly StoreEvent[], selection: Selection): readonly WatchChange[] {
  if (batch.length === 0) return none;
  let cached = shared.get(batch);
  if (cached === undefined) shared.set(batch, (cached = new SharedBatch(batch)));
  return cached.changes(selection);
}

/**
 * The body of the object of a change. For DELETED it is the last state in the selection, with the revision of the event or the one that the change
 * shows instead.
 */
export function bodyOf(change: WatchChange): Uint8Array {
  const { event, shownRevision = event.revision } = change;
  if (change.type !== "DELETED") return (event.entry as Entry).body;
  return bodyAt(event.previous as Entry, shownRevision);
}
