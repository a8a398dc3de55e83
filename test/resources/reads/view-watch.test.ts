import { afterEach, beforeEach, expect, test } from "vitest";
import { AccessScopes } from "../../../src/authorization/access-scopes.ts";
import { GrantedView } from "../../../src/authorization/granted-view.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import type { FollowedView, ViewObserver } from "../../../src/resources/objects/followed-view.ts";
import { everything } from "../../../src/resources/objects/selection.ts";
import { ViewWatch } from "../../../src/resources/reads/view-watch.ts";
import { bodyOf, type WatchChange, type WatchObserver } from "../../../src/resources/reads/watch.ts";
import { namesOf } from "../../../src/resources/registry/registry.ts";
import { revisionOf } from "../../../src/storage/entry.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import {
  RevisionCompactedError,
  type RangeOptions,
  type Revision,
  type Store,
  type StoreEvent,
} from "../../../src/storage/store.ts";
import { typeNamed, writeObject } from "../../authorization/stored-objects.ts";
import { alice, ask } from "../../authorization/support.ts";
import { settle } from "../../support/manual-clock.ts";

const maps = typeNamed("configmaps");
const attributes = ask(alice, "get", { resource: "configmaps" });
const target = { resource: maps, namespace: "", name: "", subresource: "" };

function viewOf(...namespaces: string[]): GrantedView {
  const scopes = new AccessScopes();
  for (const namespace of namespaces) scopes.allowIn(namespace);
  return new GrantedView([scopes], attributes, maps);
}

interface State {
  since: Revision;
  view: GrantedView;
  next: State | undefined;
  totalSize: number;
}

/** A view whose states and position a test sets. */
class SetView implements FollowedView {
  readonly start: Revision;
  state: State;
  position: Revision;
  observer: ViewObserver | undefined;
  closed = false;
  private tail: State;
  private waiting: (() => void)[] = [];
  readonly yieldIfDue = () => undefined;

  constructor(start: Revision, view: GrantedView) {
    this.start = this.position = start;
    this.state = this.tail = { since: start, view, next: undefined, totalSize: 0 };
  }

  change(since: Revision, view: GrantedView): void {
    this.tail = this.tail.next = { since, view, next: undefined, totalSize: 0 };
    this.moveTo(since);
    this.observer!.changed();
  }

  moveTo(revision: number): void {
    this.position = revisionOf(Math.max(this.position, revision));
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  advance(): void {
    this.state = this.state.next!;
  }

  async reach(revision: Revision): Promise<void> {
    while (this.position < revision) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  listen(observer: ViewObserver): void {
    this.observer = observer;
  }

  close(): void {
    this.closed = true;
  }
}

/** The events of the collection, which a test delivers. */
class SetSource {
  position: Revision;
  observer!: WatchObserver;
  closed = false;
  /** Delivered by the next `sync`. */
  late: WatchChange[] = [];

  constructor(after: Revision) {
    this.position = after;
  }

  readonly start = (observer: WatchObserver) => {
    this.observer = observer;
    return this;
  };

  deliver(changes: readonly WatchChange[], upTo: number): void {
    this.position = revisionOf(upTo);
    this.observer.changes(changes, this.position);
  }

  sync(): Revision {
    const late = this.late.splice(0);
    if (late.length > 0) this.deliver(late, late.at(-1)!.event.revision);
    return this.position;
  }

  close(): void {
    this.closed = true;
  }
}

let store: ReturnType<typeof createMemoryStore>;
beforeEach(() => (store = createMemoryStore({ clock: systemClock })));
afterEach(() => store.close());

/** Writes an object; returns the change that a watch of it receives. */
async function put(namespace: string, name: string, size = 0): Promise<WatchChange> {
  const revision = await writeObject(store, maps, namespace, name, { data: { text: "x".repeat(size) } });
  const key = `${maps.storePrefix}${namespace}/${name}`;
  const event: StoreEvent = { key, revision, entry: await store.get(key), previous: undefined };
  return { type: "ADDED", event };
}

interface Received {
  readonly text: string;
  readonly version: number;
}

function watch(view: SetView, source: SetSource, drained?: () => Promise<void>) {
  const received: Received[][] = [];
  const positions: number[] = [];
  const ends: Error[] = [];
  const started = new ViewWatch(
    { store, clock: systemClock, target, selection: everything },
    view,
    {
      changes: (changes, upTo) => {
        positions.push(upTo);
        if (changes.length === 0) return;
        received.push(
          changes.map((change) => {
            const { metadata } = JSON.parse(Buffer.from(bodyOf(change)).toString()) as {
              metadata: { resourceVersion: string };
            };
            return {
              text: `${change.type} ${namesOf(change.event.key).name}`,
              version: Number(metadata.resourceVersion),
            };
          }),
        );
      },
      ended: (error) => ends.push(error),
      ...(drained === undefined ? {} : { drained }),
    },
    view.start,
  ).start(source.start);
  const texts = () => received.flat().map(({ text }) => text);
  return { watch: started, received, positions, ends, texts };
}

test("an event waits until the changes of grants up to its revision are known", async () => {
  const start = await store.latestRevision();
  const view = new SetView(start, viewOf("a"));
  const source = new SetSource(start);
  const { watch: started, texts } = watch(view, source);
  const [one, two] = [await put("a", "one"), await put("b", "two")];
  view.moveTo(one.event.revision);
  source.deliver([one], one.event.revision);
  expect(texts()).toEqual(["ADDED one"]);
  source.deliver([two], two.event.revision);
  const three = await put("a", "three");
  source.deliver([three], three.event.revision);
  await settle();
  expect(texts()).toEqual(["ADDED one"]);
  expect(started.position).toBe(one.event.revision);
  view.moveTo(three.event.revision);
  await settle();
  expect(texts()).toEqual(["ADDED one", "ADDED three"]);
  expect(started.position).toBe(three.event.revision);
  started.close();
  expect([view.closed, source.closed]).toEqual([true, true]);
});

test("a change of grants follows the events before it, also if their delivery is deferred", async () => {
  const start = await store.latestRevision();
  const view = new SetView(start, viewOf("a"));
  const source = new SetSource(start);
  const { watch: started, texts, positions } = watch(view, source);
  const one = await put("a", "one");
  await put("b", "two");
  source.late = [one];
  const change = await store.latestRevision();
  source.position = start;
  view.change(change, viewOf("b"));
  source.late.push({ ...one, event: { ...one.event, revision: change, key: `${maps.storePrefix}c/c` } });
  await settle();
  expect(texts()).toEqual(["ADDED one", "ADDED two", "DELETED one"]);
  expect(positions.at(-1)).toBe(change);
  started.close();
});

test("of objects that one change hides only the last has its revision, so that a client that misses some resumes before it", async () => {
  const count = 1201;
  for (let i = 0; i < count; i++) await put("a", `n${String(i).padStart(4, "0")}`);
  const change = (await put("b", "shown")).event.revision;
  const view = new SetView(revisionOf(change - 1), viewOf("a"));
  const source = new SetSource(change);
  let waits = 0;
  const { watch: started, received, positions } = watch(view, source, async () => void waits++);
  view.change(change, viewOf("b"));
  await expect.poll(() => received.flat().length).toBe(count + 1);
  expect(received.length).toBeGreaterThan(2);
  expect(waits).toBe(received.length - 1);
  const all = received.flat();
  expect(all[0]).toEqual({ text: "ADDED shown", version: change });
  const hidden = all.slice(1);
  expect(
    hidden.slice(0, -1).every(({ text, version }) => text.startsWith("DELETED n") && version === change - 1),
  ).toBe(true);
  expect(hidden.at(-1)!.version).toBe(change);
  expect(positions).toEqual([...positions.slice(0, -1).fill(change - 1), change]);
  started.close();
});

test("users for which one change of grants shows the same objects share one read and one list of changes", async () => {
  for (const name of ["one", "two"]) await put("b", name);
  await put("b", "three");
  const change = await store.latestRevision();
  const before = revisionOf(change - 1);
  let reads = 0;
  const counted: Store = Object.assign(Object.create(store) as Store, {
    range: (options: RangeOptions) => {
      reads++;
      return store.range(options);
    },
  });
  const withName = new AccessScopes();
  withName.allowIn("b", new Set(["two"]));
  const users = [viewOf("a"), viewOf("c"), new GrantedView([withName], attributes, maps)];
  const lists: (readonly WatchChange[])[] = [];
  for (const own of users) {
    const view = new SetView(before, own);
    const observer: WatchObserver = { changes: (changes) => lists.push(changes), ended: () => undefined };
    const collection = { store: counted, clock: systemClock, target, selection: everything };
    new ViewWatch(collection, view, observer, before).start(new SetSource(change).start);
    view.change(
      change,
      own === users[0] ? viewOf("a", "b") : own === users[1] ? viewOf("c", "b") : viewOf("b"),
    );
  }
  await expect.poll(() => lists.length).toBe(3);
  const names = lists.map((changes) => changes.map(({ event }) => namesOf(event.key).name));
  expect(names).toEqual([
    ["one", "three", "two"],
    ["one", "three", "two"],
    ["one", "three"],
  ]);
  expect(lists[0]).toBe(lists[1]);
  expect(reads).toBe(1);
});

test("a watch whose held events are too large ends, and its client may resume", async () => {
  const start = await store.latestRevision();
  const view = new SetView(start, viewOf("a"));
  const source = new SetSource(start);
  const { ends, texts } = watch(view, source);
  for (let i = 0; i < 10; i++) {
    const change = await put("a", `n${i}`, 1_000_000);
    source.deliver([change], change.event.revision);
  }
  expect(ends).toMatchObject([{ reason: "Timeout" }]);
  expect([view.closed, source.closed, texts()]).toEqual([true, true, []]);
  view.moveTo(start + 20);
  await settle();
  expect(texts()).toEqual([]);
});

test("a view that ends, or a store that fails, ends the watch once", async () => {
  const start = await store.latestRevision();
  for (const fail of [
    (view: SetView) => view.observer!.ended(new Error("lost")),
    (_: SetView, source: SetSource) => source.observer.ended(new Error("lost")),
  ]) {
    const view = new SetView(start, viewOf("a"));
    const source = new SetSource(start);
    const { ends } = watch(view, source);
    fail(view, source);
    view.observer!.ended(new Error("again"));
    expect(ends.map(({ message }) => message)).toEqual(["lost"]);
    expect([view.closed, source.closed]).toEqual([true, true]);
  }
});

test("a change of grants whose revision is no longer retained ends the watch", async () => {
  await put("a", "one");
  const change = (await put("b", "two")).event.revision;
  const view = new SetView(revisionOf(change - 1), viewOf("a"));
  const source = new SetSource(change);
  const { ends, texts } = watch(view, source);
  await put("b", "two");
  await store.compact(Infinity);
  view.change(change, viewOf("b"));
  await expect.poll(() => ends.length).toBe(1);
  expect(ends[0]).toBeInstanceOf(RevisionCompactedError);
  expect([texts(), view.closed, source.closed]).toEqual([[], true, true]);
});

test("history is read in portions: the next one waits for the held events, not for later changes of grants", async () => {
  await put("b", "two");
  const start = await store.latestRevision();
  const view = new SetView(start, viewOf("a"));
  const source = new SetSource(revisionOf(1));
  const { watch: started, texts } = watch(view, source, () => Promise.resolve());
  const one = await put("a", "one");
  const change = (await put("c", "three")).event.revision;
  view.change(change, viewOf("b"));
  source.deliver([one], one.event.revision);
  await source.observer.drained!();
  await expect.poll(texts).toEqual(["ADDED one"]);
  source.deliver([], change);
  await expect.poll(texts).toEqual(["ADDED one", "ADDED two", "DELETED one"]);
  started.close();
});
