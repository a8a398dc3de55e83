// A storage engine over a Map: for reading, not for use. It passes the suite in `plinth/storage-conformance`.
import { createServer } from "plinth";
import {
  RevisionCompactedError,
  RevisionTooNewError,
  StoreClosedError,
  TransactionLimitError,
} from "plinth/storage";

const byBytes = (one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other));
const keyForm = /^\/[^/\0]*\/[^/\0]*\/[^/\0]*\/[^\0]+$/;

export class MapStore {
  transactionLimits = { writes: 512, bytes: 4 * 1024 * 1024 };
  #values = new Map(); // By key: the events of its writes, oldest first.
  #log = []; // All events that are kept, each with the time of its commit.
  #subscriptions = new Set();
  #queue = [];
  #floor = 1;
  #latest = 1;
  #closed = false;
  #clock;
  #retentionMs;
  constructor(clock, retentionMs = 5 * 60_000) {
    this.#clock = clock;
    this.#retentionMs = retentionMs;
  }
  latestRevision() {
    this.#open();
    return this.#latest;
  }
  floor() {
    this.#compact(this.#clock.now() - this.#retentionMs);
    return this.#floor;
  }
  get(key, at = this.latestRevision()) {
    this.#readable(at);
    return this.#values.get(key)?.findLast(({ revision }) => revision <= at)?.entry;
  }
  range({ prefix, at = this.latestRevision(), after = "", limit = Infinity, maxBytes = Infinity }) {
    this.#readable(at);
    const keys = [...this.#values.keys()].filter((key) => key.startsWith(prefix) && byBytes(key, after) > 0);
    const found = keys.toSorted(byBytes).flatMap((key) => this.get(key, at) ?? []);
    let bytes = 0;
    const full = found.findIndex(({ body }, index) => index >= limit || (bytes += body.length) >= maxBytes);
    const end = full < 0 ? found.length : full < limit ? full + 1 : full;
    return { revision: at, entries: found.slice(0, end), more: end < found.length };
  }
  count(prefix, at) {
    return this.range({ prefix, at }).entries.length;
  }
  async commit(write) {
    const { ok, revision, entries, current, failedCondition } = await this.transact([write]);
    if (ok) return { ok, revision, entry: entries[0] };
    return failedCondition === undefined ? { ok, current } : { ok, current, failedCondition };
  }
  /** All writes take one revision, or none is written. */
  async transact(writes) {
    this.#open();
    assertLimits(writes, this.transactionLimits);
    for (const [failedWrite, { key, expected, conditions = [] }] of writes.entries()) {
      const current = this.get(key);
      if (current?.revision !== expected) return { ok: false, failedWrite, current };
      const isMet = (one) => (this.get(one.key)?.revision ?? 0) === one.revision;
      const failedCondition = conditions.findIndex((one) => !isMet(one));
      if (failedCondition !== -1) return { ok: false, failedWrite, current, failedCondition };
    }
    const previous = writes.map(({ key }) => this.get(key));
    const revision = ++this.#latest;
    const events = writes.map(({ kind, key, draft }, index) => {
      const entry = kind === "delete" ? undefined : entryOf(key, revision, draft);
      const event = { key, revision, entry, previous: previous[index] };
      this.#values.set(key, [...(this.#values.get(key) ?? []), event]);
      this.#log.push({ time: this.#clock.now(), event });
      return event;
    });
    this.#deliver(events);
    return { ok: true, revision, entries: events.map((event) => event.entry ?? event.previous) };
  }
  subscribe({ prefix, after: position, repeatsTransaction = false }, listener) {
    // A transaction at the position is delivered again, as long as the log has it.
    const after = repeatsTransaction && position > this.floor() ? position - 1 : position;
    const subscription = {
      position: after,
      sync: () => this.latestRevision(),
      close: () => this.#subscriptions.delete(one),
    };
    const one = { prefix, after, listener, subscription };
    this.#subscriptions.add(one);
    if (after < this.floor()) this.#end(one, new RevisionCompactedError(after, this.#floor));
    const past = this.#log.map(({ event }) => event).filter((event) => event.revision > after);
    if (past.some(({ key }) => key.startsWith(prefix))) this.#hand(one, past, this.#latest);
    else subscription.position = Math.max(after, this.#latest);
    return subscription;
  }
  together(work) {
    work();
  }
  async compact(before) {
    this.#compact(before);
    return this.#floor;
  }
  async check() {
    return [];
  }
  writeObstacle() {
    return undefined;
  }
  async close() {
    this.#closed = true;
    for (const one of this.#subscriptions) this.#end(one, new StoreClosedError("the store is closed"));
  }
  #open() {
    if (this.#closed) throw new StoreClosedError("the store is closed");
  }
  #readable(at) {
    if (at < this.floor()) throw new RevisionCompactedError(at, this.#floor);
    if (at > this.latestRevision()) throw new RevisionTooNewError(at, this.#latest);
  }
  #compact(before) {
    this.#open();
    while (this.#log.length > 0 && this.#log[0].time < before) this.#floor = this.#log.shift().event.revision;
    for (const [key, events] of this.#values) {
      const first = events.findLastIndex(({ revision }) => revision <= this.#floor);
      const kept = events
        .slice(Math.max(0, first))
        .filter(({ entry, revision }) => entry || revision > this.#floor);
      if (kept.length > 0) this.#values.set(key, kept);
      else this.#values.delete(key);
    }
  }
  /** A listener may write: what it writes is delivered after what it is being told. */
  #deliver(events) {
    if (this.#queue.push(events) > 1) return;
    for (; this.#queue.length > 0; this.#queue.shift()) {
      const [next] = this.#queue;
      for (const one of this.#subscriptions) this.#hand(one, next, next[0].revision);
    }
  }
  #hand(one, events, upTo) {
    const { listener, prefix, subscription } = one;
    const wanted = events.filter(
      ({ key, revision }) => revision > subscription.position && key.startsWith(prefix),
    );
    if (!this.#subscriptions.has(one) || upTo < subscription.position) return;
    subscription.position = upTo;
    try {
      listener.events(wanted, upTo);
    } catch (error) {
      this.#end(one, error);
    }
  }
  #end(one, error) {
    if (this.#subscriptions.delete(one)) one.listener.ended(error);
  }
}

function assertLimits(writes, limits) {
  const keys = new Set(writes.map(({ key }) => key));
  const isKey = (key) => keyForm.test(key) && Buffer.byteLength(key) <= 1024;
  const wrong = writes.find(({ key }) => !isKey(key));
  if (wrong !== undefined) throw new TypeError(`not a key: ${wrong.key}`);
  if (writes.length === 0 || keys.size < writes.length) throw new TypeError("no write, or two of one key");
  const sum = (of) => writes.reduce((total, write) => total + of(write), 0);
  const sizes = [
    ["writes", writes.length, limits.writes],
    ["conditions", sum(({ conditions = [] }) => conditions.length), 2 * limits.writes - writes.length],
    ["bytes", sum(({ draft }) => (draft ? draft.header.length + draft.body.length : 0)), limits.bytes],
  ];
  for (const [what, actual, limit] of sizes)
    if (actual > limit) throw new TransactionLimitError(what, actual, limit);
}

function entryOf(key, revision, { header, body, revisionAt }) {
  const parts = [body.slice(0, revisionAt), Buffer.from(String(revision)), body.slice(revisionAt)];
  return { key, revision, header: Buffer.from(header), body: Buffer.concat(parts), revisionAt };
}

const clock = { now: Date.now, setTimer: () => ({ cancel: () => undefined }) };
export default await createServer({ storage: new MapStore(clock) });
