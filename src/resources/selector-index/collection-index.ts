import { setImmediate } from "node:timers/promises";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { prefixEnd } from "../../storage/keys.ts";
import type { Entry, Revision, Store, StoreEvent, Subscription } from "../../storage/store.ts";
import type { SelectionTerm } from "../objects/selection.ts";
import { headerOf, sameHeading, type Header } from "../objects/stored.ts";
import { ChangedKeys } from "./changed-keys.ts";
import type { KeyRange } from "./key-set.ts";
import { TermIndex, valueIn, type TermName } from "./term-index.ts";

/** Objects that may be selected: every selected one is among them, as things are at the revision. */
export interface Candidates {
  readonly revision: Revision;
  /** In order. */
  readonly keys: readonly string[];
}

/** Which objects are looked for. */
export interface Search {
  /** All of these hold for each of them; at least one. */
  readonly terms: readonly SelectionTerm[];
  /** Where they lie: a collection, or a partition of one. */
  readonly prefix: string;
  /** The revision to read at; the latest when absent. */
  readonly at: Revision | undefined;
  /** Only keys above this one. */
  readonly after: string | undefined;
}

/** The index of one term, with what is needed to keep it true. */
interface KeptTerm {
  readonly name: TermName;
  readonly index: TermIndex;
  /** It answers for no revision before this one. */
  readonly since: Revision;
  /** While it is being made: what changed since its revision. */
  pending: PendingChange[] | undefined;
}

interface PendingChange {
  readonly key: string;
  readonly before: string | undefined;
  readonly now: string | undefined;
}

/** How collections are read, and which values are left out. */
export interface CollectionIndexLimits {
  /** How many objects are read at a time while an index is made: about a millisecond's worth. */
  readonly pageObjects: number;
  /** How many changes that came meanwhile are taken in at a time, likewise. */
  readonly changesAtATime: number;
  /** A value that no more objects have than this is never common; see `commonPart`. */
  readonly commonLeast: number;
}

/** And how many bytes of them. */
const pageBytes = 256 * 1024;
/** An index of which more changes than this while it is made isn't made. */
const maxPending = 200_000;
/** A value that a larger part of the objects has is common. */
const commonPart = 1 / 4;

/**
 * Indexes of one collection, made when they are asked for and kept true by a subscription. They are of the revision that the
 * subscription has reached; for revisions shortly before, the keys that changed since are among the candidates.
 */
export class CollectionIndex {
  private readonly terms = new Map<string, KeptTerm>();
  private readonly changed = new ChangedKeys();
  private readonly subscription: Subscription;
  private objects = 0;
  /** The subscription is gone, so nothing here can be relied on. */
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
      { events: (batch) => this.take(batch), ended: () => this.close() },
    );
  }

  /** Roughly how much memory the indexes take. */
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
   * Makes the index of a term from what is stored, page by page, others having their turn in between.
   *
   * @param goOn asked after each page; false breaks off.
   * @returns whether it is made.
   * @throws {StoreError} reading failed; there is no index then.
   */
  async build(name: TermName, goOn: () => boolean): Promise<boolean> {
    const objects = await this.store.count(this.prefix);
    await this.subscription.sync();
    const { position: since } = this.subscription;
    this.objects = objects;
    const { pageObjects: limit, commonLeast } = this.limits;
    const index = new TermIndex(() => Math.max(commonLeast, this.objects * commonPart));
    const kept: KeptTerm = { name, index, since, pending: [] };
    if (this.ended) return false;
    this.terms.set(idOf(name), kept);
    const stands = () => !this.ended && this.terms.get(idOf(name)) === kept;
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
        if (!stands()) return false;
        for (const entry of page.entries) putInto(index, name, entry);
        if (!goOn() || kept.pending!.length > maxPending) break;
        if (!page.more) return await this.catchUp(kept, stands);
        after = page.entries.at(-1)!.key;
        await setImmediate();
      }
    } finally {
      if (kept.pending !== undefined && stands()) this.drop(name);
    }
    return false;
  }

  /**
   * Takes what changed while an index was made into it, others having their turn in between.
   *
   * @param stands whether the index is still wanted; asked after each turn.
   * @returns whether it was to the end.
   */
  private async catchUp(kept: KeptTerm, stands: () => boolean): Promise<boolean> {
    for (;;) {
      const pending = kept.pending!;
      for (const { key, before, now } of pending.splice(0, this.limits.changesAtATime))
        apply(kept.index, key, before, now);
      if (pending.length === 0) {
        kept.pending = undefined;
        return true;
      }
      await setImmediate();
      if (!stands()) return false;
    }
  }

  /**
   * Looks for candidates as things are when it is called, or at the revision that was asked for.
   *
   * @returns undefined where no index knows them, or they are so many that scanning is no slower.
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
    const found = this.candidates(search, floor);
    if (found === undefined || found.keys.length <= alwaysWorth) return found;
    return andThen(this.store.count(search.prefix), (all) =>
      found.keys.length > mostOf(all) ? undefined : found,
    );
  }

  /** Terms of a search whose index would know more if it were made anew. */
  outdated(terms: readonly SelectionTerm[]): readonly SelectionTerm[] {
    return terms.filter((term) => this.ready(term)?.index.isOutdated(term.values));
  }

  private candidates({ terms, prefix, at, after }: Search, floor: Revision): Candidates | undefined {
    const { position } = this.subscription;
    const revision = at ?? position;
    // What is no longer retained, or not known yet, is the store's to answer.
    if (revision > position || revision < floor || revision < this.changed.since) return undefined;
    const usable = terms.flatMap((term) => {
      const kept = this.ready(term);
      if (kept === undefined || kept.since > revision) return [];
      const count = kept.index.count(term.values);
      return [{ ...term, index: kept.index, count: count ?? Infinity }];
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

  private ready(term: TermName): KeptTerm | undefined {
    const kept = this.terms.get(idOf(term));
    return kept?.pending === undefined ? kept : undefined;
  }

  private take(batch: readonly StoreEvent[]): void {
    for (const { key, revision, entry, previous } of batch) {
      if (entry === undefined) this.objects--;
      else if (previous === undefined) this.objects++;
      else if (sameHeading(entry, previous)) continue;
      if (this.terms.size === 0) continue;
      const before = previous && headerOf(previous);
      const now = entry && headerOf(entry);
      let changed = false;
      for (const kept of this.terms.values()) {
        const was = before && valueIn(kept.name, key, before);
        const is = now && valueIn(kept.name, key, now);
        if (was === is) continue;
        changed = true;
        if (kept.pending !== undefined) kept.pending.push({ key, before: was, now: is });
        else apply(kept.index, key, was, is);
      }
      if (changed) this.changed.add(key, revision);
    }
    this.grown();
  }
}

/** So many candidates are always read one by one; more only where they are no larger part of all objects than this. */
const alwaysWorth = 300;
const worthPart = 1 / 3;
/** The most candidates that are read one by one of a store where each takes a round trip. */
const mostRoundTrips = 2000;
/** Of how many candidates it is looked up whether other indexes have them too: that costs less than reading them. */
const maxChecked = 5000;

function idOf({ of, name }: TermName): string {
  return `${of} ${name}`;
}

function putInto(index: TermIndex, name: TermName, entry: Entry): void {
  const header: Header = headerOf(entry);
  const value = valueIn(name, entry.key, header);
  if (value !== undefined) index.add(value, entry.key);
}

function apply(index: TermIndex, key: string, was: string | undefined, is: string | undefined): void {
  if (was !== undefined) index.remove(was, key);
  if (is !== undefined) index.add(is, key);
}
