import type { ApiObject } from "../../../src/schema/kind.ts";
import { Keyspace } from "../../../src/storage/etcd/keyspace.ts";
import { decodeEntry } from "../../../src/storage/etcd/value.ts";
import { firstRevision } from "../../../src/storage/entry.ts";
import type { Store } from "../../../src/storage/store.ts";
import type { SimulatedCluster } from "../etcd/simulated-cluster.ts";

/** Prefix of the keys of the servers in the cluster. */
export const storePrefix = "/plinth";

/** A change of one object, as the cluster executed it. */
export class Change {
  private parsed: ApiObject | undefined;

  constructor(
    readonly key: string,
    readonly revision: number,
    /** Virtual time in milliseconds. */
    readonly atMs: number,
    /** The change before it, of the same key. */
    readonly previous: Change | undefined,
    /** Returns the encoded object; undefined for a deletion. */
    private readonly body: (() => Uint8Array) | undefined,
  ) {}

  get isDeletion(): boolean {
    return this.body === undefined;
  }

  /** The object after the change; of a deletion, the object before. */
  get object(): ApiObject {
    if (this.body === undefined) return this.previous!.object;
    return (this.parsed ??= JSON.parse(Buffer.from(this.body()).toString()) as ApiObject);
  }

  /** The object before the change; undefined if there was none. */
  get before(): Change | undefined {
    return this.previous?.isDeletion === false ? this.previous : undefined;
  }
}

/** Everything that the cluster or the store in memory has executed, in order: the reference with which answers and events are compared. */
export class History {
  private readonly collections = new Map<string, Change[]>();
  private readonly keys = new Map<string, Change[]>();
  /** The newest changes of the objects that exist, by collection and key. */
  private readonly newest = new Map<string, Map<string, Change>>();
  private readonly keyspace = new Keyspace(storePrefix);
  private readonly listeners: ((change: Change) => void)[] = [];
  private readonly times = new Map<number, number>();
  private latest = 0;

  /** @param reused called with a revision that isn't above the newest one. */
  constructor(
    private readonly cluster: SimulatedCluster,
    private readonly nowMs: () => number,
    private readonly reused: (revision: number) => void,
  ) {
    cluster.committed = (revision) => this.record(revision);
  }

  /** The newest revision. */
  get revision(): number {
    return this.latest;
  }

  /** Returns the virtual time, in milliseconds, of the first revision that isn't below a revision. */
  committedMs(revision: number): number {
    for (let at = revision; at <= this.latest; at++) {
      const time = this.times.get(at);
      if (time !== undefined) return time;
    }
    return this.nowMs();
  }

  /** Calls a listener for each later change. */
  listen(listener: (change: Change) => void): void {
    this.listeners.push(listener);
  }

  /** Returns the changes under a prefix after a revision, up to another one. The prefix is that of a collection or namespace. */
  changes(prefix: string, after: number, upTo: number): Change[] {
    const all = this.collections.get(collectionOf(prefix)) ?? [];
    const result: Change[] = [];
    for (let at = firstAfter(all, after); at < all.length && all[at]!.revision <= upTo; at++)
      if (all[at]!.key.startsWith(prefix)) result.push(all[at]!);
    return result;
  }

  /** Returns the changes of a key, oldest first. */
  changesOf(key: string): readonly Change[] {
    return this.keys.get(key) ?? [];
  }

  /** Returns the version of a key at a revision; undefined if the object doesn't exist then. */
  at(key: string, revision: number): Change | undefined {
    const all = this.changesOf(key);
    const last = all[firstAfter(all, revision) - 1];
    return last === undefined || last.isDeletion ? undefined : last;
  }

  /** Returns the objects under a prefix at a revision, by key. */
  stateAt(prefix: string, revision: number): Map<string, Change> {
    const state = new Map<string, Change>();
    for (const [key, change] of this.newest.get(collectionOf(prefix)) ?? [])
      if (key.startsWith(prefix)) state.set(key, change);
    // Most reads are of the newest revisions, so only a few changes are undone.
    for (const { key, before } of this.changes(prefix, revision, this.latest).toReversed()) {
      if (before === undefined) state.delete(key);
      else state.set(key, before);
    }
    return state;
  }

  /** Returns the present objects under a prefix. */
  present(prefix: string): ApiObject[] {
    return [...this.stateAt(prefix, this.latest).values()].map(({ object }) => object);
  }

  /** Records the changes of a store that isn't in the cluster. */
  follow(store: Store): void {
    store.subscribe(
      { prefix: "/", after: firstRevision },
      {
        events: (batch) => {
          for (const [index, { key, revision, entry }] of batch.entries()) {
            const isOfSame = batch[index - 1]?.revision === revision;
            if (isOfSame || this.advance(revision)) this.add(key, revision, entry && (() => entry.body));
          }
        },
        ended: (error) => {
          throw error;
        },
      },
    );
  }

  /** Takes a revision as the newest one; returns false if it isn't. */
  private advance(revision: number): boolean {
    if (revision <= this.latest) {
      this.reused(revision);
      return false;
    }
    this.latest = revision;
    this.times.set(revision, this.nowMs());
    return true;
  }

  private record(revision: number): void {
    if (!this.advance(revision)) return;
    const { start: key, end: rangeEnd } = this.keyspace;
    for (const { kv, deleted } of this.cluster.data.changesAt(revision, { key, rangeEnd })) {
      const inner = this.keyspace.inner(kv.key);
      if (inner === undefined) continue;
      this.add(inner, revision, deleted ? undefined : () => decodeEntry(inner, kv)!.body);
    }
  }

  private add(key: string, revision: number, body: (() => Uint8Array) | undefined): void {
    const versions = this.keys.get(key) ?? [];
    this.keys.set(key, versions);
    const change = new Change(key, revision, this.nowMs(), versions.at(-1), body);
    versions.push(change);
    const collection = collectionOf(key);
    const all = this.collections.get(collection) ?? [];
    const newest = this.newest.get(collection) ?? new Map<string, Change>();
    this.collections.set(collection, all);
    this.newest.set(collection, newest);
    all.push(change);
    if (change.isDeletion) newest.delete(key);
    else newest.set(key, change);
    for (const listener of this.listeners) listener(change);
  }
}

/** Returns the first two segments of a key or prefix. */
function collectionOf(key: string): string {
  return key.slice(0, key.indexOf("/", key.indexOf("/", 1) + 1) + 1);
}

/** Returns the index of the first change above a revision. */
function firstAfter(changes: readonly Change[], revision: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (changes[middle]!.revision <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
