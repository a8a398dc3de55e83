import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { nextTurn } from "../../base/turns/yielding.ts";
import { compareKeys } from "../../storage/keys.ts";
import type { Entry, Revision, Store } from "../../storage/store.ts";
import { decodeContinue, encodeContinue, expiredList, type ContinuePoint } from "./continue-token.ts";
import { type Engine, type Target } from "../engine/engine.ts";
import { engineInVersion } from "../engine/conversion.ts";
import { awaitVersion } from "./get.ts";
import type { ItemForm } from "../pages/joined-bodies.ts";
import type { CollectionPage } from "../pages/page-cache.ts";
import type { PagePart, StretchForms } from "../pages/page-forms.ts";
import type { ObjectView } from "../objects/object-view.ts";
import { keyOf, prefixOf, type Resource } from "../registry/registry.ts";
import { storeFailure, type ListRead } from "../engine/resource-version.ts";
import type { Selection } from "../objects/selection.ts";
import { readCandidates } from "../selector-index/chosen-page.ts";
import type { Candidates } from "../selector-index/collection-index.ts";
import { isUnreadableValue, unreadableObjects } from "./unreadable-objects.ts";
import { chooseVisible } from "./visible-entries.ts";
import { partsToRead, type VisibleParts } from "./visible-parts.ts";

export interface ListOptions {
  readonly read: ListRead;
  /** Maximum number of items in the response; 0 for no limit. */
  readonly limit: number;
  readonly selection: Selection;
  /** Resolves when the next page may be read and encoded; the default is the next turn of the event loop. */
  readonly pause?: (() => Promise<void>) | undefined;
  /**
   * Limits the list to the objects that its user may see; undefined for no limit. The rights must not be older than the revision of
   * {@link read}.
   */
  readonly view?: ObjectView | undefined;
}

/** Metadata of a list, available after the last page. */
export interface ListEnd {
  readonly revision: Revision;
  /** Token for the next chunk; empty at the end. */
  readonly continueToken: string;
  readonly remaining: number | undefined;
  /** The shard selector that the list is limited to; undefined for none. */
  readonly shard?: string | undefined;
}

/** Entries of a list; never empty. */
export interface ListedPage {
  readonly entries: readonly Entry[];
  /** The items as one buffer, each after a comma, in the form of {@link itemForm}, if cached. */
  readonly joined: Buffer | undefined;
  /** Cache of other forms of these entries; undefined if they aren't cached. */
  readonly forms?: StretchForms | undefined;
  /** The cached page of which these entries are a part; undefined if they are all of it, or aren't cached. */
  readonly part?: PagePart | undefined;
}

/** The form of the items in lists of a resource type. */
export function itemForm({ kind }: Resource): ItemForm {
  return kind.custom === undefined ? "bare" : "typed";
}

/** Bytes of stored objects that a list reads at a time. */
const pageBytes = 256 * 1024;

/**
 * Reads a collection page by page at one revision and in constant memory (spec: conventions 4.4, 4.5). No transaction stays open between
 * pages, so a slow reader is limited only by the retained history.
 *
 * @yields the selected entries of a page; an empty page only for an empty list.
 * @returns the metadata of the list.
 * @throws {StatusError} Expired if the revision is no longer retained; Timeout if it isn't reached in time.
 */
export async function* listObjects(
  served: Engine,
  target: Target,
  options: ListOptions,
): AsyncGenerator<ListedPage, ListEnd> {
  const engine = engineInVersion(served, target.resource);
  const walk = await start(engine, target, options);
  const view = options.view?.everything === true ? undefined : options.view;
  if (view !== undefined) walk.parts = await partsToRead(engine, target, view, walk);
  if (walk.parts === undefined) await useIndex(engine, target.resource, walk, options.selection);
  for (;;) {
    const page = await readPage(engine, target.resource, walk, options);
    walk.revision = page.revision;
    const chosen =
      view === undefined ? choose(page, options, walk) : await chooseVisible(page, view, options, walk);
    walk.unselected += page.entries.length - chosen.entries.length;
    if (chosen.entries.length > 0) yield chosen;
    if (walk.done) {
      if (walk.candidates === undefined && view === undefined)
        noteScan(engine, target, walk, options.selection);
      return await end(engine, walk, options);
    }
    // A synchronous store would block other work.
    await (options.pause ?? nextTurn)();
  }
}

/** The state of a list. */
interface Walk {
  readonly form: ItemForm;
  readonly prefix: string;
  /** The only key that the selection can match, if it has one. */
  readonly key: string | undefined;
  /** Candidates of an index and the number of those that were checked; undefined: all objects are scanned. */
  candidates: Candidates | undefined;
  checked: number;
  /** Whether scanned pages are cached; undefined: they are. */
  isCached: (() => MaybePromise<boolean>) | undefined;
  /** Number of checked objects that aren't selected. */
  unselected: number;
  revision: Revision | undefined;
  /** The parts of a view that are read instead of the collection; undefined: it is scanned. */
  parts: VisibleParts | undefined;
  /** The last checked key. */
  after: string | undefined;
  /** In a list with a view, the last key in the response: a token must not have the key of a hidden object. */
  sent: string | undefined;
  selected: number;
  done: boolean;
  more: boolean;
  /** The position of the token; undefined for the first chunk. */
  readonly point: ContinuePoint | undefined;
}

async function start(engine: Engine, target: Target, { read, selection, view }: ListOptions): Promise<Walk> {
  const prefix = prefixOf(target.resource, target.namespace);
  const fresh: Walk = {
    form: itemForm(target.resource),
    prefix,
    key: pinnedKey(target, selection),
    candidates: undefined,
    checked: 0,
    isCached: undefined,
    unselected: 0,
    revision: undefined,
    parts: undefined,
    after: undefined,
    sent: undefined,
    selected: 0,
    done: false,
    more: false,
    point: undefined,
  };
  switch (read.mode) {
    case "latest":
      return { ...fresh, revision: view?.revision };
    case "notOlderThan":
      await awaitVersion(engine, read.revision);
      return { ...fresh, revision: view?.revision };
    case "exact":
      await awaitVersion(engine, read.revision);
      return { ...fresh, revision: read.revision };
    case "continue": {
      const point = decodeContinue(read.token, view?.id);
      return {
        ...fresh,
        revision: point.revision ?? view?.revision,
        after: prefix + point.after,
        point,
      };
    }
  }
}

function pinnedKey({ resource, namespace }: Target, { name }: Selection): string | undefined {
  if (name === undefined || (resource.namespaced && namespace === "")) return undefined;
  return keyOf(resource, namespace, name);
}

/** Finds the candidates of an index for a selection; without one, all objects must be scanned. */
async function useIndex(engine: Engine, resource: Resource, walk: Walk, { terms }: Selection): Promise<void> {
  const { key, prefix, revision: at, after } = walk;
  if (!isIndexable(resource, key, terms)) return;
  const { selectors } = engine;
  const search = { collection: resource.storePrefix, terms, prefix, at, after };
  try {
    walk.candidates = await selectors.find(search);
  } catch (error) {
    throw storeFailure(error);
  }
  let isCached: MaybePromise<boolean> | undefined;
  walk.isCached = () => (isCached ??= andThen(selectors.expectsIndex(search), (expected) => !expected));
}

function noteScan(
  engine: Engine,
  { resource }: Target,
  { key, unselected }: Walk,
  { terms }: Selection,
): void {
  if (!isIndexable(resource, key, terms)) return;
  engine.selectors.scanned({ collection: resource.storePrefix, terms }, unselected);
}

/** Whether an index can find the selected objects. A webhook may convert labels, so that they differ from the stored ones. */
function isIndexable({ storage }: Resource, key: string | undefined, terms: Selection["terms"]): boolean {
  return terms.length > 0 && key === undefined && storage?.keepsLabels !== false;
}

async function readPage(
  engine: Engine,
  resource: Resource,
  walk: Walk,
  { limit: requested, selection, view }: ListOptions,
): Promise<CollectionPage> {
  // A view has to see whether a visible object follows.
  const limit = view === undefined || view.everything ? requested : 0;
  try {
    if (walk.key !== undefined) return await readKey(engine.store, walk.key, walk);
    if (walk.parts !== undefined) {
      const isBounded = selection.everything && requested > 0;
      const limits = { limit: isBounded ? requested - walk.selected + 1 : Infinity, maxBytes: pageBytes };
      return await walk.parts.read(walk.revision, limits);
    }
    if (walk.candidates !== undefined) return await readChosen(engine.store, walk.candidates, walk, limit);
    return await engine.pages.read({
      form: walk.form,
      prefix: walk.prefix,
      at: walk.revision,
      after: walk.after,
      limit: selection.everything && limit > 0 ? limit - walk.selected : undefined,
      maxBytes: pageBytes,
      isCached: walk.isCached,
    });
  } catch (error) {
    const isNamed = isUnreadableValue(error) && (view === undefined || view.everything);
    // A list of one key has no others.
    if (isNamed && walk.key === undefined && engine.featureEnabled("AllowUnsafeMalformedObjectDeletion"))
      throw await unreadableObjects(engine.store, resource, walk, error);
    const failure = storeFailure(error);
    throw walk.point === undefined ? failure : withToken(failure, walk.point);
  }
}

/** Adds a token for the rest of the list to the error for an expired revision. */
export function withToken(failure: unknown, point: ContinuePoint): unknown {
  const isExpired = failure instanceof StatusError && failure.reason === "Expired";
  return isExpired && point.revision !== undefined ? expiredList(point) : failure;
}

/** The next candidates of the index. */
async function readChosen(
  store: Store,
  candidates: Candidates,
  walk: Walk,
  limit: number,
): Promise<CollectionPage> {
  const { entries, upTo } = await readCandidates(store, candidates, walk.checked, {
    limit: limit > 0 ? limit - walk.selected : Infinity,
    maxBytes: pageBytes,
  });
  walk.checked = upTo;
  const more = upTo < candidates.keys.length;
  return { revision: candidates.revision, entries, joined: undefined, more };
}

/** The page of a collection with at most one entry, if its key is after the current position. */
async function readKey(store: Store, key: string, { revision, after }: Walk): Promise<CollectionPage> {
  const at = revision ?? (await store.latestRevision());
  const entry = await store.get(key, at);
  const isNext = entry !== undefined && (after === undefined || compareKeys(after, key) < 0);
  return { revision: at, entries: isNext ? [entry] : [], joined: undefined, more: false };
}

function choose(page: CollectionPage, { limit, selection }: ListOptions, walk: Walk): ListedPage {
  const { entries } = page;
  const last = entries.at(-1);
  walk.more = page.more;
  walk.done = !page.more;
  if (last !== undefined) walk.after = last.key;
  if (selection.everything) {
    walk.selected += entries.length;
    if (limit > 0 && walk.selected >= limit) walk.done = true;
    return page;
  }
  const chosen: Entry[] = [];
  for (const [index, entry] of entries.entries()) {
    if (limit > 0 && walk.selected === limit) {
      walk.after = entries[index - 1]?.key ?? walk.after;
      walk.more = true;
      walk.done = true;
      return { entries: chosen, joined: undefined };
    }
    if (!selection.matches(entry)) continue;
    chosen.push(entry);
    walk.selected++;
  }
  if (limit > 0 && walk.selected === limit) walk.done = true;
  return { entries: chosen, joined: undefined };
}

async function end(engine: Engine, walk: Walk, { limit, selection, view }: ListOptions): Promise<ListEnd> {
  const revision = walk.revision!;
  const { shard } = selection;
  if (limit === 0 || !walk.more) return { revision, continueToken: "", remaining: undefined, shard };
  // A count would include hidden objects.
  const isCounted = selection.everything && (view === undefined || view.everything);
  const counts = isCounted && engine.featureEnabled("RemainingItemCount");
  const remaining = counts ? await countRemaining(engine, walk, revision) : undefined;
  const after = (walk.sent ?? walk.after!).slice(walk.prefix.length);
  const token = encodeContinue({ revision, after, remaining, view: view?.id });
  return { revision, continueToken: token, remaining, shard };
}

/** Undefined after a chunk without a count: the store counts whole collections only. */
async function countRemaining(
  engine: Engine,
  { point, prefix, selected }: Walk,
  revision: Revision,
): Promise<number | undefined> {
  const before = point === undefined ? await engine.store.count(prefix, revision) : point.remaining;
  return before === undefined ? undefined : Math.max(0, before - selected);
}
