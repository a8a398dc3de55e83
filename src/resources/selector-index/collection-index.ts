import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { nextTurn } from "../../base/turns/yielding.ts";
import { prefixEnd, compareKeys } from "../../storage/keys.ts";
import type { Entry, Revision, Store, StoreEvent, Subscription } from "../../storage/store.ts";
import type { SelectionTerm } from "../objects/selection.ts";
import { headerOf, sameHeading, type Header } from "../objects/stored.ts";
import { type KeyRange, isWithin } from "./key-set.ts";
import { TermIndex, valueIn, type TermName } from "./term-index.ts";

/** Keys of objects that may be selected at a revision; they include all selected ones. */
export interface Candidates {
  readonly revision: Revision;
  /** Sorted. */
  readonly keys: readonly string[];
}

/** A search for objects. */
export interface Search {
  /** Terms that all must match; at least one. */
  readonly terms: readonly SelectionTerm[];
  /** Key prefix: a collection, or a namespace of it. */
  readonly prefix: string;
  /** The revision to read at; undefined for the latest. */
  readonly at: Revision | undefined;
  /** Only keys above this one. */
  readonly after: string | undefined;
}

/** The index of one term, with its state. */
interface IndexedTerm {
  readonly name: TermName;
  readonly index: TermIndex;
  /** The first revision that it can answer. */
  readonly since: Revision;
  /** Changes since its revision while it is being built; otherwise undefined. */
  pending: PendingChange[] | undefined;
}

interface PendingChange {
  readonly key: string;
  readonly before: string | undefined;
  readonly now: string | undefined;
}

/** Limits of building an index. */
export interface CollectionIndexLimits {
  /** Maximum number of objects in one read while an index is built: about a millisecond of work. */
  readonly pageObjects: number;
  /** Maximum number of changes that are applied without a pause after all objects are read. */
  readonly changesAtATime: number;
  /** A value of at most this number of objects is never common; see {@link commonPart}. */
  readonly commonLeast: number;
}

/** Maximum number of bytes in one read while an index is built. */
const pageBytes = 256 * 1024;
/** Building an index is aborted above this number of concurrent changes. */
const maxPending = 200_000;
/** A value of more than this part of the objects is common. */
const commonPart = 1 / 4;

/**
 * Indexes of one collection, built on request and updated by a subscription. They have the revision of the subscription; for slightly
 * older revisions, the keys that changed since then are added to the candidates.
 */
export class CollectionIndex {
  private readonly terms = new Map<string, IndexedTerm>();
  private readonly changed = new ChangedKeys();
  private readonly subscription: Subscription;
  private objects = 0;
  /** Whether the subscription has ended, so that the indexes can't be used. */
  ended = false;

  /**
   * @param latest the store's latest revision.
   * @param grown called when the indexes may have grown.
   */
  constructor(
    private readonly store: Store,
    private readonly prefix: string,
    latest: Revision,
    private readonly grown: () => void,
    private readonly limits: CollectionIndexLimits,
  ) {
    this.subscription = store.subscribe(
      { prefix, after: latest },
      { events: (batch) => this.apply(batch), ended: () => this.close() },
    );
  }

  /** Approximate memory of the indexes. */
  get bytes(): number {
    let bytes = 0;
    for (const { index } of this.terms.values()) bytes += index.bytes;
    return bytes;
  }

  has(term: TermName): boolean {
    return this.terms.has(idOf(term));
  }

  drop(term: TermName): void {
    this.terms.delete(idOf(term));
  }

  get size(): number {
    return this.terms.size;
  }

  close(): void {
    this.ended = true;
    this.terms.clear();
    this.subscription.close();
  }

  /**
   * Builds the index of a term page by page; other work can run between two pages.
   *
   * @param mayContinue called after each page; false aborts.
   * @returns whether the index is complete.
   * @throws {StoreError} reading failed; the index is dropped.
   */
  async build(name: TermName, mayContinue: () => boolean): Promise<boolean> {
    const objects = await this.store.count(this.prefix);
    await this.subscription.sync();
    const { position: since } = this.subscription;
    this.objects = objects;
    const { pageObjects: limit, commonLeast } = this.limits;
    const index = new TermIndex(() => Math.max(commonLeast, this.objects * commonPart));
    const building: IndexedTerm = { name, index, since, pending: [] };
    if (this.ended) return false;
    this.terms.set(idOf(name), building);
    const isWanted = () => !this.ended && this.terms.get(idOf(name)) === building;
    try {
      let after: string | undefined;
      for (;;) {
        const page = await this.store.range({
          prefix: this.prefix,
          at: since,
          after,
          limit,
          maxBytes: pageBytes,
        });
        if (!isWanted()) return false;
        for (const entry of page.entries) putInto(index, name, entry);
        if (!mayContinue() || building.pending!.length > maxPending) break;
        if (!page.more) return await this.catchUp(building, isWanted);
        after = page.entries.at(-1)!.key;
        await nextTurn();
      }
    } finally {
      if (building.pending !== undefined && isWanted()) this.drop(name);
    }
    return false;
  }

  /**
   * Applies the changes that were received while an index was built, in portions; other work can run between two portions.
   *
   * @param isWanted called after each portion; false aborts.
   * @returns whether all changes are applied.
   */
  private async catchUp(term: IndexedTerm, isWanted: () => boolean): Promise<boolean> {
    for (;;) {
      const pending = term.pending!;
      for (const { key, before, now } of pending.splice(0, this.limits.changesAtATime))
        change(term.index, key, before, now);
      if (pending.length === 0) {
        term.pending = undefined;
        return true;
      }
      await nextTurn();
      if (!isWanted()) return false;
    }
  }

  /**
   * Finds candidates at the requested revision, or including all writes before the call.
   *
   * @returns undefined if there is no index, or so many candidates that a scan is as fast.
   */
  find(search: Search): MaybePromise<Candidates | undefined> {
    if (!search.terms.some((term) => this.ready(term) !== undefined)) return undefined;
    const synced = this.subscription.sync();
    const mostOf = synced instanceof Promise ? () => mostRoundTrips : (all: number) => all * worthPart;
    return andThen(synced, () => {
      if (this.ended) return undefined;
      return andThen(this.store.floor(), (floor) => this.unlessTooMany(search, floor, mostOf));
    });
  }

  private unlessTooMany(
    search: Search,
    floor: Revision,
    mostOf: (all: number) => number,
  ): MaybePromise<Candidates | undefined> {
    const candidates = this.candidates(search, floor);
    if (candidates === undefined || candidates.keys.length <= alwaysWorth) return candidates;
    return andThen(this.store.count(search.prefix), (all) =>
      candidates.keys.length > mostOf(all) ? undefined : candidates,
    );
  }

  /** Terms of a search whose index should be rebuilt; see {@link TermIndex.isOutdated}. */
  outdated(terms: readonly SelectionTerm[]): readonly SelectionTerm[] {
    return terms.filter((term) => this.ready(term)?.index.isOutdated(term.values));
  }

  private candidates({ terms, prefix, at, after }: Search, floor: Revision): Candidates | undefined {
    const { position } = this.subscription;
    const revision = at ?? position;
    // Revisions that are compacted, or not yet received, are read from the store.
    if (revision > position || revision < floor || revision < this.changed.since) return undefined;
    const usable = terms.flatMap((term) => {
      const ready = this.ready(term);
      if (ready === undefined || ready.since > revision) return [];
      const count = ready.index.count(term.values);
      return [{ ...term, index: ready.index, count: count ?? Infinity }];
    });
    usable.sort((a, b) => a.count - b.count);
    const [fewest, ...others] = usable;
    if (fewest === undefined || fewest.count === Infinity) return undefined;
    const range: KeyRange = { after: after ?? prefix, end: prefixEnd(prefix) };
    let keys = fewest.index.keys(fewest.values, range);
    if (keys.length <= maxChecked && others.length > 0) {
      keys = keys.filter((key) => others.every(({ index, values }) => index.mayHave(values, key)));
    }
    return { revision, keys: this.changed.join(keys, revision, range) };
  }

  private ready(term: TermName): IndexedTerm | undefined {
    const indexed = this.terms.get(idOf(term));
    return indexed?.pending === undefined ? indexed : undefined;
  }

  private apply(batch: readonly StoreEvent[]): void {
    for (const { key, revision, entry, previous } of batch) {
      if (entry === undefined) this.objects--;
      else if (previous === undefined) this.objects++;
      else if (sameHeading(entry, previous)) continue;
      if (this.terms.size === 0) continue;
      const before = previous && headerOf(previous);
      const now = entry && headerOf(entry);
      let changed = false;
      for (const term of this.terms.values()) {
        const was = before && valueIn(term.name, key, before);
        const is = now && valueIn(term.name, key, now);
        if (was === is) continue;
        changed = true;
        if (term.pending !== undefined) term.pending.push({ key, before: was, now: is });
        else change(term.index, key, was, is);
      }
      if (changed) this.changed.add(key, revision);
    }
    this.grown();
  }
}

/** Up to this number, candidates are always read one by one. */
const alwaysWorth = 300;
/** More candidates are read one by one only up to this part of all objects. */
const worthPart = 1 / 3;
/** Maximum number of candidates that are read one by one from a remote store. */
const mostRoundTrips = 2000;
/** Up to this number, candidates are also checked with the other indexes, which costs less than reading them. */
const maxChecked = 5000;

function idOf({ of, name }: TermName): string {
  return `${of} ${name}`;
}

function putInto(index: TermIndex, name: TermName, entry: Entry): void {
  const header: Header = headerOf(entry);
  const value = valueIn(name, entry.key, header);
  if (value !== undefined) index.add(value, entry.key);
}

function change(index: TermIndex, key: string, was: string | undefined, is: string | undefined): void {
  if (was !== undefined) index.remove(was, key);
  if (is !== undefined) index.add(is, key);
}

/** Minimum number of changes that remain when old ones are dropped. */
const keptChanges = 4096;

/** The recently changed keys and their revisions. */
class ChangedKeys {
  /** Has every change after this revision. */
  since = 0 as Revision;
  /** In order of revision. */
  private changes: { readonly key: string; readonly revision: Revision }[] = [];

  add(key: string, revision: Revision): void {
    this.changes.push({ key, revision });
    if (this.changes.length < 2 * keptChanges) return;
    this.since = this.changes[keptChanges - 1]!.revision;
    this.changes = this.changes.slice(keptChanges);
  }

  /** Adds to sorted keys those of a range that changed after a revision. */
  join(keys: readonly string[], after: Revision, range: KeyRange): readonly string[] {
    const changes = this.changes;
    let from = changes.length;
    while (from > 0 && changes[from - 1]!.revision > after) from--;
    if (from === changes.length) return keys;
    const more = changes.slice(from).filter(({ key }) => isWithin(key, range));
    if (more.length === 0) return keys;
    return [...new Set([...keys, ...more.map(({ key }) => key)])].toSorted(compareKeys);
  }
}
