import { expect, test } from "vitest";
import { ConvertedWatch } from "../../../src/custom-resources/conversion/converting-store.ts";
import type { WatchChange, WatchObserver } from "../../../src/resources/registry/watch-change.ts";
import type { Entry, Revision } from "../../../src/storage/store.ts";

const entry = (revision: number, bytes = 10): Entry => ({
  key: `/g/r/n/${revision}`,
  revision: revision as Revision,
  header: Buffer.from("[]"),
  body: Buffer.alloc(bytes),
  revisionAt: 0,
});
const added = (revision: number, bytes?: number): WatchChange => ({
  type: "ADDED",
  event: { key: "", revision: revision as Revision, entry: entry(revision, bytes), previous: undefined },
});

/** A watch over a store whose conversions the test ends one by one. */
function watching() {
  const conversions: { resolve(): void; reject(error: Error): void }[] = [];
  const seen: (number | string)[] = [];
  let source: WatchObserver | undefined;
  let closed = 0;
  let position = 0;
  const inner = { position: 0 as Revision };
  const store = {
    showAll: (entries: readonly Entry[]) =>
      new Promise<readonly Entry[]>((resolve, reject) =>
        conversions.push({ resolve: () => resolve(entries.map((one) => ({ ...one }))), reject }),
      ),
  };
  const observer = {
    changes(changes: readonly WatchChange[], upTo: Revision) {
      for (const { event } of changes) seen.push(event.revision);
      position = upTo;
    },
    ended: (error: Error) => void seen.push(error.message),
  };
  const watch = new ConvertedWatch(store, observer, 0 as Revision).start((receiver) => {
    source = receiver;
    return Object.assign(inner, { sync: () => 0 as Revision, close: () => void closed++ });
  });
  return {
    watch,
    inner,
    conversions,
    seen,
    closed: () => closed,
    position: () => position,
    send(upTo: number, ...changes: WatchChange[]) {
      source!.changes(changes, upTo as Revision);
    },
  };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("changes and the watch position wait for earlier conversions", async () => {
  const { send, conversions, seen, watch } = watching();
  send(1, added(1));
  send(2, added(2));
  send(3);
  await turn();
  expect([seen, watch.position, conversions.length]).toEqual([[], 0, 1]);
  const synced = watch.sync();
  conversions[0]!.resolve();
  await turn();
  expect([seen, watch.position]).toEqual([[1], 1]);
  conversions[1]!.resolve();
  expect(await synced).toBe(3);
  expect(seen).toEqual([1, 2]);
  send(4);
  expect(watch.position).toBe(4);
});

test("the watch position follows the inner position while no conversion is running", async () => {
  const { send, conversions, watch, inner } = watching();
  inner.position = 5 as Revision;
  expect(watch.position).toBe(5);
  send(6, added(6));
  inner.position = 7 as Revision;
  expect(watch.position).toBe(0);
  const synced = watch.sync();
  conversions[0]!.resolve();
  expect(await synced).toBe(7);
});

test("a failed conversion ends the watch once, and no later change is delivered", async () => {
  const { send, conversions, seen, closed } = watching();
  send(1, added(1));
  send(2, added(2));
  conversions[0]!.reject(new Error("no"));
  await turn();
  await turn();
  send(3, added(3));
  await turn();
  expect([seen, closed(), conversions.length]).toEqual([["no"], 1, 1]);
});

test("a closed watch delivers nothing and ignores a failed conversion", async () => {
  const { send, conversions, seen, watch } = watching();
  send(1, added(1));
  send(2, added(2));
  watch.close();
  conversions[0]!.reject(new Error("no"));
  await turn();
  await turn();
  expect(seen).toEqual([]);
});

test("changes that come faster than they are converted end the watch when too many bytes wait", async () => {
  const { send, seen, closed } = watching();
  for (let revision = 1; revision <= 10; revision++) send(revision, added(revision, 1024 * 1024));
  await turn();
  expect([seen, closed()]).toEqual([[expect.stringContaining("faster")], 1]);
});
