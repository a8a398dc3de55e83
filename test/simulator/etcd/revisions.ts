import type {
  KeyValue,
  RangeRequest,
  RangeResponse,
  RequestOp,
  TxnExpectation,
  TxnRequest,
  TxnResponse,
  WatchEvent,
} from "../../../src/storage/etcd/messages.ts";

/** One version of a key. */
interface Version {
  readonly kv: KeyValue;
  readonly deleted: boolean;
}

/** A request for a revision that the cluster has compacted. */
export class Compacted extends Error {}

/** The data of an etcd cluster with its history, as its consensus orders it. Keys are compared as Latin-1 text, so by bytes. */
export class Revisions {
  /** Versions of each key, oldest first. */
  private readonly keys = new Map<string, Version[]>();
  /** The changes of each revision. */
  private readonly log = new Map<number, WatchEvent[]>();
  private readonly sorted: string[] = [];
  private current = 1;
  private compacted = 0;

  get revision(): number {
    return this.current;
  }

  get compactRevision(): number {
    return this.compacted;
  }

  /** @throws {Compacted} if the revision is compacted. */
  range(request: RangeRequest): RangeResponse {
    const { limit = 0, revision = 0, countOnly = false } = request;
    if (revision > 0 && revision < this.compacted) throw new Compacted();
    const at = revision > 0 ? revision : this.current;
    const all: KeyValue[] = [];
    for (const key of this.keysOf(request)) {
      const version = this.versionAt(key, at);
      if (version !== undefined) all.push(version);
    }
    const kvs = limit > 0 ? all.slice(0, limit) : all;
    return { kvs: countOnly ? [] : kvs, more: kvs.length < all.length, count: all.length };
  }

  /** @throws {Compacted} if a range's revision is compacted. */
  txn({ expect, conditions = [], success, failure = [] }: TxnRequest): TxnResponse {
    const holds = ({ key, modRevision }: TxnExpectation): boolean =>
      (this.versionAt(textOf(key), this.current)?.modRevision ?? 0) === modRevision;
    const succeeded = [expect, ...conditions].every((one) => one === undefined || holds(one));
    const changes: WatchEvent[] = [];
    const results = (succeeded ? success : failure).map((op) => this.execute(op, changes));
    if (changes.length > 0) this.log.set(++this.current, changes);
    return { revision: this.current, succeeded, results };
  }

  /** @throws {Compacted} if the revision is compacted already. */
  compact(revision: number): void {
    if (revision <= this.compacted) throw new Compacted();
    for (const [key, versions] of this.keys) {
      const first = versions.findLastIndex(({ kv }) => kv.modRevision <= revision);
      const kept = first < 0 ? versions : versions.slice(versions[first]!.deleted ? first + 1 : first);
      if (kept.length === 0) this.forget(key);
      else this.keys.set(key, kept);
    }
    for (let at = this.compacted; at <= revision; at++) this.log.delete(at);
    this.compacted = revision;
  }

  /** Returns the changes of a revision under a range. */
  changesAt(revision: number, range: Pick<RangeRequest, "key" | "rangeEnd">): WatchEvent[] {
    const [first, end] = [textOf(range.key), range.rangeEnd && textOf(range.rangeEnd)];
    return (this.log.get(revision) ?? []).filter(({ kv }) => isWithin(textOf(kv.key), first, end));
  }

  /** Returns events as etcd sends them: it reads previous values late, and omits those that are compacted by then. */
  asSent(events: readonly WatchEvent[]): WatchEvent[] {
    return events.map((event) =>
      event.previous === undefined || this.isRetained(event.previous)
        ? event
        : { ...event, previous: undefined },
    );
  }

  private isRetained({ key, modRevision }: KeyValue): boolean {
    return this.keys.get(textOf(key))?.some(({ kv }) => kv.modRevision === modRevision) ?? false;
  }

  private execute(op: RequestOp, changes: WatchEvent[]): RangeResponse {
    if ("range" in op) return this.range(op.range);
    const next = this.current + 1;
    const key = "put" in op ? op.put.key : op.remove.key;
    const previous = this.versionAt(textOf(key), this.current);
    const none: RangeResponse = { kvs: [], more: false, count: 0 };
    if ("put" in op) {
      const kv = { key, modRevision: next, version: (previous?.version ?? 0) + 1, value: op.put.value };
      this.add({ kv, deleted: false });
      changes.push({ deleted: false, kv, previous });
      return none;
    }
    if (previous === undefined) return none;
    const kv = { key, modRevision: next, version: 0, value: new Uint8Array(0) };
    this.add({ kv, deleted: true });
    changes.push({ deleted: true, kv, previous });
    return { ...none, kvs: [previous] };
  }

  private add(version: Version): void {
    const key = textOf(version.kv.key);
    const versions = this.keys.get(key);
    if (versions !== undefined) return void versions.push(version);
    this.keys.set(key, [version]);
    this.sorted.splice(this.indexOf(key), 0, key);
  }

  private forget(key: string): void {
    this.keys.delete(key);
    this.sorted.splice(this.indexOf(key), 1);
  }

  /** Returns the number of keys before a key. */
  private indexOf(key: string): number {
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sorted[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private versionAt(key: string, at: number): KeyValue | undefined {
    const version = this.keys.get(key)?.findLast(({ kv }) => kv.modRevision <= at);
    return version === undefined || version.deleted ? undefined : version.kv;
  }

  private keysOf({ key, rangeEnd }: RangeRequest): string[] {
    const first = textOf(key);
    if (rangeEnd === undefined) return [first];
    return this.sorted.slice(this.indexOf(first), this.indexOf(textOf(rangeEnd)));
  }
}

function isWithin(key: string, first: string, end: string | undefined): boolean {
  return end === undefined ? key === first : key >= first && key < end;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
