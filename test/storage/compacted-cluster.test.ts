import { afterEach, beforeEach, expect, it } from "vitest";
import { draft } from "../../src/storage/conformance/support.ts";
import { connectEtcdStore } from "../../src/storage/etcd/etcd-store.ts";
import { StoreStampError, type RequestedStamp } from "../../src/storage/stamp.ts";
import { StoreFullError, type Store, type StoreEvent } from "../../src/storage/store.ts";
import { SimulatedCluster } from "../simulator/etcd/simulated-cluster.ts";
import { ManualClock } from "../support/manual-clock.ts";

let clock: ManualClock;
let cluster: SimulatedCluster;
let stores: Store[];

beforeEach(() => {
  clock = new ManualClock();
  stores = [];
  const passage = () => ({ requestMs: 1, answerMs: 1 });
  cluster = new SimulatedCluster(clock, { passage, eventMs: () => 1 });
});
afterEach(() => Promise.all(stores.map((store) => done(store.close()))));

async function open(stamp?: RequestedStamp): Promise<Store> {
  const { endpoints } = cluster;
  const connect = () => cluster.connect("server");
  const store = await done(connectEtcdStore({ endpoints, connect, prefix: "/p", clock, stamp }));
  stores.push(store);
  return store;
}

/** Moves the clock until a promise is settled. */
async function done<T>(work: T | Promise<T>): Promise<T> {
  let settled = false;
  const mark = (): void => void (settled = true);
  Promise.resolve(work).then(mark, mark);
  while (!settled) await clock.advance(10);
  return work;
}

/** Another user of the cluster writes, and compacts it up to its own write. */
function compactByOthers(): void {
  const put = { key: Buffer.from("/other"), value: Buffer.from("1") };
  const { revision } = cluster.execute((data) => data.txn({ success: [{ put }] }));
  cluster.compact(revision);
}

it("a store whose cluster is compacted beyond its last write can be listed and followed after it is opened", async () => {
  const first = await open();
  await done(first.commit({ kind: "create", key: "/g/r/n/a", draft: draft("1") }));
  await done(first.close());
  compactByOthers();
  const store = await open();
  const page = await done(store.range({ prefix: "/g/r/" }));
  expect(page.entries.map(({ key }) => key)).toEqual(["/g/r/n/a"]);
  expect(await done(store.get("/g/r/n/a", page.revision))).toBeDefined();
  const events: StoreEvent[] = [];
  const failures: Error[] = [];
  store.subscribe(
    { prefix: "/g/r/", after: page.revision },
    { events: (batch) => void events.push(...batch), ended: (error) => void failures.push(error) },
  );
  await done(store.commit({ kind: "create", key: "/g/r/n/b", draft: draft("2") }));
  expect([failures, events.map(({ key }) => key)]).toEqual([[], ["/g/r/n/b"]]);
});

it("a list can be continued by a watch after the cluster was compacted beyond it while the store's own watch was cut", async () => {
  const store = await open();
  await done(store.commit({ kind: "create", key: "/g/r/n/a", draft: draft("1") }));
  for (const member of cluster.states.keys()) cluster.setState(member, "down");
  compactByOthers();
  for (const member of cluster.states.keys()) cluster.setState(member, "up");
  await clock.advance(5000);
  const { revision } = await done(store.range({ prefix: "/g/r/" }));
  expect(revision).toBeGreaterThanOrEqual(await done(store.floor()));
});

it("a store that exists can be opened and read while its cluster is full", async () => {
  const stamp = { label: "one", format: 1, telltales: new Map([["/g/r//x", "one"]]) };
  const first = await open(stamp);
  await done(first.commit({ kind: "create", key: "/g/r/n/a", draft: draft("1") }));
  cluster.full = true;
  const store = await open(stamp);
  expect(await done(store.get("/g/r/n/a"))).toBeDefined();
  const write = done(store.commit({ kind: "create", key: "/g/r/n/b", draft: draft("2") }));
  await expect(write).rejects.toThrow(StoreFullError);
  await expect(open({ ...stamp, label: "two" })).rejects.toThrow(StoreStampError);
});

it("lists and watches agree on the revision of a store whose cluster is full and compacted beyond its last write", async () => {
  const store = await open();
  await done(store.commit({ kind: "create", key: "/g/r/n/a", draft: draft("1") }));
  const { revision } = await done(store.range({ prefix: "/g/r/" }));
  const positions: number[] = [];
  const listener = { events: () => undefined, ended: () => undefined };
  const subscription = store.subscribe({ prefix: "/g/r/", after: revision }, listener);
  cluster.full = true;
  compactByOthers();
  cluster.setStates("down");
  cluster.setStates("up");
  for (let second = 0; second < 5; second++) {
    await clock.advance(1000);
    positions.push(subscription.position, (await done(store.range({ prefix: "/g/r/" }))).revision);
  }
  expect(new Set(positions)).toEqual(new Set([revision]));
  await expect(open()).rejects.toThrow(StoreFullError);
  cluster.full = false;
  const written = await done(store.commit({ kind: "create", key: "/g/r/n/b", draft: draft("2") }));
  expect(await done(subscription.sync())).toBe(written.ok ? written.revision : undefined);
  const another = await open();
  expect((await done(another.range({ prefix: "/g/r/" }))).entries).toHaveLength(2);
});
