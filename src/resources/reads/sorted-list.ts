import { StatusError } from "../../base/status-error.ts";
import { createYielder, type YieldIfDue } from "../../base/turns/yielding.ts";
import { compareKeys } from "../../storage/keys.ts";
import type { Revision } from "../../storage/store.ts";
import { type Engine, type Target } from "../engine/engine.ts";
import { engineInVersion } from "../engine/conversion.ts";
import { storeFailure, type ListRead } from "../engine/resource-version.ts";
import { sortInTurns } from "../objects/sort-in-turns.ts";
import { compareValues, sortValue, type SortOrder, type SortValue } from "../objects/sort-order.ts";
import { prefixOf } from "../registry/registry.ts";
import { readCandidates } from "../selector-index/chosen-page.ts";
import { decodeContinue, encodeContinue, type ContinuePoint } from "./continue-token.ts";
import { listObjects, withToken, type ListedPage, type ListEnd, type ListOptions } from "./list.ts";

/** Options of a list that may be sorted. */
export interface SortedListOptions extends ListOptions {
  /** Undefined for the order of the keys. */
  readonly sort?: SortOrder | undefined;
  /** Limits the memory of all sorted lists together; undefined: only each list is limited. */
  readonly memory?: SortMemory | undefined;
}

/** The memory of one sorted list, as a part of a budget. */
export interface SortMemory {
  /**
   * Ensures that a number of bytes is reserved; those of an earlier sort of the same list count.
   *
   * @throws {StatusError} TooManyRequests if the budget is used up.
   */
  reserve(bytes: number): void;
}

/** Maximum memory of the keys and values that are sorted, in bytes. */
const maxSortedBytes = 32 * 1024 * 1024;
/** Largest limit with which only the items of the chunk are kept in memory. */
const maxPrunedLimit = 2000;
/** Approximate memory of an item besides its texts. */
const itemBytes = 100;
/** Bytes of objects that are read at a time. */
const pageBytes = 256 * 1024;

/** The position of an object in the order. */
interface Item {
  readonly value: SortValue;
  readonly key: string;
}

/**
 * Lists a collection in the order of the request. Without one, it is the list of {@link listObjects}. Every chunk of a sorted list reads
 * the whole collection, page by page, and keeps the keys and values of its own objects.
 *
 * @throws {StatusError} as {@link listObjects}; BadRequest if a list without limit has too many objects to be sorted; TooManyRequests if
 * the budget of sorted lists is used up.
 */
export function listInOrder(
  engine: Engine,
  target: Target,
  { sort, memory, ...options }: SortedListOptions,
): AsyncGenerator<ListedPage, ListEnd> {
  if (sort === undefined || isKeyOrder(target, sort)) return listObjects(engine, target, options);
  return listSorted(engine, target, { ...options, sort, memory });
}

/** Whether an order is that of the keys. */
function isKeyOrder({ resource, namespace }: Target, { text }: SortOrder): boolean {
  return text === "metadata.name" && (!resource.namespaced || namespace !== "");
}

async function* listSorted(
  engine: Engine,
  target: Target,
  { sort, memory, ...options }: SortedListOptions & { readonly sort: SortOrder },
): AsyncGenerator<ListedPage, ListEnd> {
  const { limit, view, selection } = options;
  const { store } = engineInVersion(engine, target.resource);
  const prefix = prefixOf(target.resource, target.namespace);
  const point =
    options.read.mode === "continue" ? decodeContinue(options.read.token, view?.id, sort.text) : undefined;
  const after = point && { value: sortValue(point.value ?? ""), key: prefix + point.after };
  const first = new FirstItems({ sort, limit, after, memory });
  const revision = await collect(engine, target, { ...options, limit: 0 }, { point, sort, first }).catch(
    (error: unknown) => {
      throw point === undefined ? error : withToken(error, point);
    },
  );
  const sent = await first.sorted(createYielder(options.pause));
  const keys = sent.map(({ key }) => key);
  for (let from = 0; from < keys.length;) {
    const page = await readCandidates(store, { keys, revision }, from, {
      limit: Infinity,
      maxBytes: pageBytes,
    }).catch((error: unknown) => {
      throw storeFailure(error);
    });
    from = page.upTo;
    if (page.entries.length > 0) yield { entries: page.entries, joined: undefined };
    await options.pause?.();
  }
  const last = sent.at(-1);
  if (last === undefined || first.count <= sent.length)
    return { revision, continueToken: "", remaining: undefined, shard: selection.shard };
  // A count would include objects that the user doesn't see or hasn't selected.
  const isCounted = selection.everything && (view === undefined || view.everything);
  const remaining =
    isCounted && engine.featureEnabled("RemainingItemCount") ? first.count - sent.length : undefined;
  const token = {
    revision,
    after: last.key.slice(prefix.length),
    remaining: undefined,
    view: view?.id,
    sort: sort.text,
    value: String(last.value),
  };
  return { revision, continueToken: encodeContinue(token), remaining, shard: selection.shard };
}

/** Reads at the revision of a token, or at the latest one if the token has none. */
function readAt({ revision }: ContinuePoint): ListRead {
  return revision === undefined ? { mode: "latest" } : { mode: "exact", revision };
}

/** Reads the selected objects of the collection; returns its revision. */
async function collect(
  engine: Engine,
  target: Target,
  options: ListOptions,
  parts: { readonly point: ContinuePoint | undefined; readonly sort: SortOrder; readonly first: FirstItems },
): Promise<Revision> {
  const { point, sort, first } = parts;
  const read = point === undefined ? options.read : readAt(point);
  const pages = listObjects(engine, target, { ...options, read });
  const yieldIfDue = createYielder(options.pause);
  for (;;) {
    const step = await pages.next();
    if (step.done === true) return step.value.revision;
    for (const entry of step.value.entries) {
      first.add({ value: sortValue(sort.valueOf(entry)), key: entry.key });
      const due = yieldIfDue();
      if (due !== undefined) await due;
    }
  }
}

interface FirstItemsOptions {
  readonly sort: SortOrder;
  /** Number of items that are needed; 0 for all. */
  readonly limit: number;
  /** The last item of the chunk before. */
  readonly after: Item | undefined;
  readonly memory: SortMemory | undefined;
}

/** The first items after a position, in an order; only as many as a chunk needs are kept. */
class FirstItems {
  /** Number of items after the position. */
  count = 0;
  private items: Item[] = [];
  private bytes = 0;

  constructor(private readonly options: FirstItemsOptions) {}

  /** @throws {StatusError} BadRequest above {@link maxSortedBytes}; TooManyRequests (see {@link SortMemory}). */
  add(item: Item): void {
    const { after, limit, memory } = this.options;
    if (after !== undefined && this.compare(item, after) <= 0) return;
    this.count++;
    this.items.push(item);
    this.bytes += bytesOf(item);
    // Sorting at twice the limit costs a constant time for each item.
    if (limit > 0 && limit <= maxPrunedLimit && this.items.length === 2 * limit) this.prune();
    if (this.bytes <= maxSortedBytes) return memory?.reserve(this.bytes);
    throw new StatusError(
      "BadRequest",
      "parameter sort: the list has too many objects to be sorted at once; " +
        `use a limit of at most ${maxPrunedLimit}, a namespace or a selector`,
    );
  }

  /** The first items in order. */
  async sorted(yieldIfDue: YieldIfDue): Promise<readonly Item[]> {
    const all = await sortInTurns(this.items, (a, b) => this.compare(a, b), yieldIfDue);
    const { limit } = this.options;
    return limit === 0 ? all : all.slice(0, limit);
  }

  private prune(): void {
    this.items.sort((a, b) => this.compare(a, b));
    this.items.length = this.options.limit;
    this.bytes = this.items.reduce((sum, item) => sum + bytesOf(item), 0);
  }

  private compare(a: Item, b: Item): number {
    const values = compareValues(a.value, b.value);
    return (this.options.sort.descending ? -values : values) || compareKeys(a.key, b.key);
  }
}

function bytesOf({ value, key }: Item): number {
  return String(value).length + key.length + itemBytes;
}
