import assert from "node:assert/strict";
import type { RequestedStamp } from "../stamp.ts";
import type {
  CommitResult,
  Draft,
  Entry,
  Listener,
  Revision,
  Store,
  StoreError,
  StoreEvent,
  SubscribeOptions,
  Subscription,
} from "../store.ts";

/** A store under test, with the operations that the suite needs. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Advances the store's clock. */
  advance(ms: number): void;
  /** Current time of the store's clock. */
  now(): number;
  /** Opens another store over the same data; absent if the engine can't share data. */
  readonly another?: (() => Promise<Store>) | undefined;
  /** Like `another`, with a stamp; absent if the engine has no stamps. */
  readonly stamped?: ((stamp: RequestedStamp) => Promise<Store>) | undefined;
  /** Closes every store that was opened and removes the data. */
  dispose(): Promise<void>;
}

/** One test of the contract. */
export interface ConformanceCase {
  readonly name: string;
  /** Rejects if the store violates the contract. Resolves with a reason if the case doesn't apply to the store. */
  run(): Promise<string | undefined>;
}

/** A case that receives its store as a parameter. */
export interface Scenario {
  readonly name: string;
  run(subject: StoreUnderTest): Promise<string | undefined>;
}

/** Declares a case. Its function returns a reason if the case doesn't apply to the engine. */
export function scenario(name: string, run: (subject: StoreUnderTest) => Promise<string | void>): Scenario {
  return { name, run: async (subject) => (await run(subject)) ?? undefined };
}

const mark = '{"v":"';

/** Creates a draft whose stored body is `{"v":"<revision>","d":"<text>"}`. */
export function draft(text: string): Draft {
  return {
    header: Buffer.from(`h:${text.slice(0, 20)}`),
    body: Buffer.from(`${mark}","d":"${text}"}`),
    revisionAt: mark.length,
  };
}

/** Returns the text of a draft after checking that its revision was inserted. */
export function textOf(entry: Entry | undefined): string | undefined {
  if (entry === undefined) return undefined;
  const body = Buffer.from(entry.body).toString();
  const start = `${mark}${entry.revision}","d":"`;
  assert.ok(body.startsWith(start), `revision ${entry.revision} not in place in ${body.slice(0, 60)}`);
  const text = body.slice(start.length, -2);
  assert.equal(Buffer.from(entry.header).toString(), `h:${text.slice(0, 20)}`);
  assert.equal(entry.revisionAt, mark.length);
  return text;
}

/** Asserts that a commit succeeded. */
export function succeeded(result: CommitResult): Extract<CommitResult, { ok: true }> {
  if (!result.ok) assert.fail("the commit met a conflict");
  return result;
}

export async function create(store: Store, key: string, text: string): Promise<Revision> {
  return succeeded(await store.commit({ kind: "create", key, draft: draft(text) })).revision;
}

export async function update(store: Store, key: string, expected: Revision, text: string): Promise<Revision> {
  return succeeded(await store.commit({ kind: "update", key, expected, draft: draft(text) })).revision;
}

export async function remove(store: Store, key: string, expected: Revision): Promise<Revision> {
  return succeeded(await store.commit({ kind: "delete", key, expected })).revision;
}

/** Reads keys and texts under a prefix, page by page. */
export async function readAll(
  store: Store,
  prefix: string,
  options: { at?: Revision; limit?: number } = {},
): Promise<{ revision: Revision; pairs: [string, string | undefined][]; pages: number }> {
  const pairs: [string, string | undefined][] = [];
  let at = options.at;
  let after: string | undefined;
  for (let pages = 1; ; pages++) {
    const page = await store.range({ prefix, at, after, limit: options.limit });
    for (const entry of page.entries) pairs.push([entry.key, textOf(entry)]);
    at = page.revision;
    after = page.entries.at(-1)?.key;
    if (!page.more) return { revision: page.revision, pairs, pages };
  }
}

/** A listener that records events and checks the rules for all subscriptions. */
export class Recorder implements Listener {
  readonly events: (batch: readonly StoreEvent[], upTo: Revision) => void;
  readonly heard: StoreEvent[] = [];
  readonly endings: StoreError[] = [];
  upTo = 0;
  /** Current entry of each key according to the events; undefined if it was deleted. */
  private readonly current = new Map<string, Entry | undefined>();

  constructor(private readonly prefix: string) {
    this.events = (batch, upTo) => this.take(batch, upTo);
  }

  ended(error: StoreError): void {
    this.endings.push(error);
  }

  /** `create|update|delete key text` of each event, in order. */
  get lines(): string[] {
    return this.heard.map(
      (event) => `${kindOf(event)} ${event.key} ${textOf(event.entry ?? event.previous)}`,
    );
  }

  get revisions(): number[] {
    return this.heard.map((event) => event.revision);
  }

  private take(batch: readonly StoreEvent[], upTo: Revision): void {
    assert.equal(this.endings.length, 0, "an event after the end");
    assert.ok(upTo >= this.upTo, "the position went back");
    /** The keys of the events of one revision; a batch has all of them. */
    const keys = new Set<string>();
    for (const event of batch) {
      const last = this.heard.at(-1)?.revision ?? 0;
      assert.ok(
        event.revision >= last && event.revision > this.upTo,
        `event ${event.revision} after ${last}`,
      );
      if (event.revision !== last) keys.clear();
      assert.ok(!keys.has(event.key), `two events of ${event.key} at ${event.revision}`);
      keys.add(event.key);
      assert.ok(event.revision <= upTo, `event ${event.revision} beyond position ${upTo}`);
      assert.ok(event.key.startsWith(this.prefix), `${event.key} is not under ${this.prefix}`);
      this.checkPrevious(event);
      this.heard.push(event);
    }
    this.upTo = upTo;
  }

  /** Asserts that `previous` is the entry of the key's previous event, and that a delete has one. */
  private checkPrevious({ key, revision, entry, previous }: StoreEvent): void {
    assert.ok(entry !== undefined || previous !== undefined, `the delete at ${revision} has no value before`);
    if (this.current.has(key)) {
      assert.equal(previous?.revision, this.current.get(key)?.revision, `what ${revision} superseded`);
    }
    this.current.set(key, entry);
  }
}

function kindOf(event: StoreEvent): string {
  if (event.entry === undefined) return "delete";
  return event.previous === undefined ? "create" : "update";
}

/** Subscribes a recorder. */
export function record(
  store: Store,
  prefix: string,
  after: Revision,
  options: Partial<SubscribeOptions> = {},
): { recorder: Recorder; subscription: Subscription } {
  const recorder = new Recorder(prefix);
  return { recorder, subscription: store.subscribe({ ...options, prefix, after }, recorder) };
}

/** Yields to the event loop until a condition is true; rejects after `timeoutMs`. */
export async function until(condition: () => boolean, what: string, timeoutMs = 10_000): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    assert.ok(performance.now() - start < timeoutMs, `timed out waiting until ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Asserts that a function throws, or returns a promise that rejects with, an error of the class. */
export async function rejectsWith<E extends Error>(
  attempt: () => unknown,
  expected: new (...args: never[]) => E,
): Promise<E> {
  try {
    await attempt();
  } catch (error) {
    assert.ok(error instanceof expected, `expected ${expected.name}, got ${String(error)}`);
    return error;
  }
  assert.fail(`expected ${expected.name}, got a value`);
}
