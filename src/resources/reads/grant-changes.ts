import type { Clock } from "../../base/time/clock.ts";
import type { Entry, Revision, Store } from "../../storage/store.ts";
import type { YieldIfDue } from "../../base/turns/yielding.ts";
import type { Target } from "../engine/engine.ts";
import type { ViewState } from "../objects/followed-view.ts";
import type { EnumeratedView, ViewPart } from "../objects/object-view.ts";
import type { Selection } from "../objects/selection.ts";
import { namesOf, prefixOf } from "../registry/registry.ts";
import type { WatchChange } from "../registry/watch-change.ts";
import { pageLimits, sharedChanges } from "./shared-changes.ts";
import { VisibleParts } from "./visible-parts.ts";
import { isVisible } from "./visible-changes.ts";

/** Up to this number, parts are read one by one whatever the size of the collection. */
const fewParts = 16;
/** Objects that are scanned in about the time in which one part is found. */
const objectsPerPart = 16;

/** A watched collection. */
export interface WatchedCollection {
  readonly store: Store;
  readonly target: Target;
  readonly selection: Selection;
  readonly clock: Clock;
  readonly yieldIfDue: YieldIfDue;
}

/** Changes of a view at one revision. */
export interface GrantPage {
  readonly changes: readonly WatchChange[];
  /** Whether they complete the revision. */
  readonly isLast: boolean;
}

/** The first pages that watches of the same view read at the same time, by the state and the selected collection. */
const sharedPages = new WeakMap<ViewState, Map<string, Promise<GrantPage>>>();

/**
 * Returns the changes of a view at the revision of a change of grants: ADDED for objects that it shows from then on, DELETED for those
 * that it no longer shows, and the events of the revision itself. Reads the objects at exactly this revision, page by page.
 *
 * ADDED has the object as it is stored. The last DELETED shows the revision of the change; earlier ones show the one before, so that
 * a client that has received only a part of the changes gets them all when it resumes. The events of all have the revision of the change.
 *
 * @param before the state before the change; its following one begins with the change.
 * @param own the events of the revision in the selection: the collection has the changed role or binding, or was written in the same
 *   transaction.
 * @yields at least one page.
 * @throws {StoreError} the revision is no longer retained.
 */
export async function* grantChanges(
  collection: WatchedCollection,
  before: ViewState,
  own: readonly WatchChange[],
): AsyncGenerator<GrantPage, void> {
  if (own.length === 0) {
    const first = await sharedFirstPage(collection, before);
    if (first.isLast) return yield first;
  }
  yield* readPages(collection, before, own);
}

function sharedFirstPage(collection: WatchedCollection, before: ViewState): Promise<GrantPage> {
  const { target, selection } = collection;
  const key = `${prefixOf(target.resource, target.namespace)} ${selection.text}`;
  let pages = sharedPages.get(before);
  if (pages === undefined) sharedPages.set(before, (pages = new Map()));
  const cached = pages.get(key);
  if (cached !== undefined) return cached;
  const read = firstPage(collection, before);
  pages.set(key, read);
  // Watches that follow the change later read it again, so that no objects are kept.
  const forget = (): void => void setImmediate(() => pages.delete(key));
  read.then(forget, forget);
  return read;
}

async function firstPage(collection: WatchedCollection, before: ViewState): Promise<GrantPage> {
  const complete = await completePage(collection, before);
  if (complete !== undefined) return complete;
  const pages = readPages(collection, before, []);
  try {
    return (await pages.next()).value as GrantPage;
  } finally {
    await pages.return();
  }
}

/** Returns all changes if they are in few parts of few objects, which are read once for all users; otherwise undefined. */
async function completePage(
  { store, clock, target: { resource }, selection, yieldIfDue }: WatchedCollection,
  before: ViewState,
): Promise<GrantPage | undefined> {
  const { since, view: later } = before.next!;
  const earlier = before.view;
  const shared = sharedChanges(store, clock, since);
  if (shared === undefined) return undefined;
  const addedParts = await later.partsBeyond(earlier, fewParts, yieldIfDue);
  if (addedParts === undefined) return undefined;
  const removedParts = await earlier.partsBeyond(later, fewParts, yieldIfDue);
  if (removedParts === undefined) return undefined;
  const added = await shared.read(resource, addedParts);
  const removed = await shared.read(resource, removedParts);
  if (!added.complete || !removed.complete) return undefined;
  const difference = {
    additions: added.entries.filter(differsBetween(selection, later, earlier)),
    removals: removed.entries.filter(differsBetween(selection, earlier, later)),
  };
  if (difference.additions.length + difference.removals.length > pageLimits.limit) return undefined;
  const changes = shared.list(difference, ({ additions, removals }) =>
    complete([
      ...additions.map((entry) => additionOf(entry, since)),
      ...removals.map((entry) => removalOf(entry, since)),
    ]),
  );
  await yieldIfDue();
  return { changes, isLast: true };
}

/** Returns whether a selected object is in one view and not in another one. */
function differsBetween(
  selection: Selection,
  view: EnumeratedView,
  other: EnumeratedView,
): (entry: Entry) => boolean {
  return (entry) => {
    const { namespace, name } = namesOf(entry.key);
    return selection.matches(entry) && view.allows(namespace, name) && !other.allows(namespace, name);
  };
}

async function* readPages(
  collection: WatchedCollection,
  before: ViewState,
  own: readonly WatchChange[],
): AsyncGenerator<GrantPage, void> {
  let ready: WatchChange[] = [];
  for await (const changes of allChanges(collection, before, own)) {
    if (ready.length + changes.length <= pageLimits.limit) {
      ready.push(...changes);
      continue;
    }
    yield { changes: ready, isLast: false };
    ready = changes;
  }
  yield { changes: complete(ready), isLast: true };
}

/** Lets the last change show the revision, if it hides an object. */
function complete(changes: readonly WatchChange[]): readonly WatchChange[] {
  const last = changes.at(-1);
  if (last?.shownRevision === undefined) return changes;
  return [...changes.slice(0, -1), { type: last.type, event: last.event }];
}

/** Yields non-empty lists of changes. */
async function* allChanges(
  collection: WatchedCollection,
  before: ViewState,
  own: readonly WatchChange[],
): AsyncGenerator<WatchChange[], void> {
  const after = before.next!;
  const revision = after.since;
  const skipped = new Set(own.map(({ event }) => event.key));
  for await (const entries of entriesBeyond(collection, after.view, before.view, revision)) {
    const added = entries.filter(({ key }) => !skipped.has(key)).map((entry) => additionOf(entry, revision));
    if (added.length > 0) yield added;
  }
  for await (const entries of entriesBeyond(collection, before.view, after.view, revision)) {
    const removed = entries.filter(({ key }) => !skipped.has(key)).map((entry) => removalOf(entry, revision));
    if (removed.length > 0) yield removed;
  }
  const seen = own.flatMap((change) => ownChange(change, before.view, after.view) ?? []);
  const hidden = seen.filter((change) => !isVisible(change, after.view));
  // A client that continues at the revision gets those again that it may get then.
  const shown = seen.filter((change) => isVisible(change, after.view));
  const ordered = [...hidden.map((change) => removalOf(change.event.previous!, revision)), ...shown];
  if (ordered.length > 0) yield ordered;
}

function additionOf(entry: Entry, revision: Revision): WatchChange {
  return { type: "ADDED", event: { key: entry.key, revision, entry, previous: undefined } };
}

function removalOf(previous: Entry, revision: Revision): WatchChange {
  const event = { key: previous.key, revision, entry: undefined, previous };
  return { type: "DELETED", event, shownRevision: (revision - 1) as Revision };
}

/** Returns a change at the revision of a change of grants as a view sees it, before with the earlier grants and after with the later ones. */
function ownChange(own: WatchChange, before: EnumeratedView, after: EnumeratedView): WatchChange | undefined {
  const was = own.type !== "ADDED" && isVisible(own, before);
  const is = own.type !== "DELETED" && isVisible(own, after);
  if (is) return { type: was ? "MODIFIED" : "ADDED", event: own.event };
  return was ? { type: "DELETED", event: own.event } : undefined;
}

/** Reads the selected objects that one view has and another hasn't, page by page, at a revision. */
async function* entriesBeyond(
  collection: WatchedCollection,
  view: EnumeratedView,
  other: EnumeratedView,
  at: Revision,
): AsyncGenerator<readonly Entry[], void> {
  const { store, target, selection, yieldIfDue } = collection;
  const parts = await partsToCompare(collection, view, other);
  if (parts.length === 0) return;
  const reader = new VisibleParts(store, target.resource, parts, undefined);
  const differs = differsBetween(selection, view, other);
  for (let more = true; more;) {
    const page = await reader.read(at, pageLimits);
    ({ more } = page);
    const entries = page.entries.filter(differs);
    if (entries.length > 0) yield entries;
    await yieldIfDue();
  }
}

/** Returns parts that have all objects of one view that another one hasn't. */
async function partsToCompare(
  { store, target, selection, yieldIfDue }: WatchedCollection,
  view: EnumeratedView,
  other: EnumeratedView,
): Promise<readonly ViewPart[]> {
  const few = await view.partsBeyond(other, fewParts, yieldIfDue);
  if (few !== undefined) return few;
  const { resource, namespace } = target;
  const { name } = selection;
  if (name !== undefined && (namespace !== "" || !resource.namespaced)) return [{ namespace, name }];
  const objects = await store.count(prefixOf(resource, namespace));
  const many = await view.partsBeyond(other, Math.floor(objects / objectsPerPart), yieldIfDue);
  return many ?? [{ namespace, name: undefined }];
}
