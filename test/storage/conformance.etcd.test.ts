import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { create, draft, record, textOf, until } from "../../src/storage/conformance/support.ts";
import { connectEtcdStore } from "../../src/storage/etcd/etcd-store.ts";
import { RevisionCompactedError, StoreUnavailableError } from "../../src/storage/store.ts";
import { EtcdServer, etcdMissing, makeCertificates } from "./etcd-server.ts";
import { describeModel } from "./model.ts";
import { describeConformance, ManualClock, openSubject, temporaryFolder } from "./support.ts";

let server: EtcdServer;
let stores = 0;

function open() {
  const prefix = `/test-${stores++}`;
  return openSubject((options) => connectEtcdStore({ endpoints: [server.endpoint], prefix, ...options }));
}

describe.skipIf(etcdMissing !== undefined)(`etcd (${etcdMissing ?? "single member"})`, () => {
  beforeAll(async () => {
    server = await EtcdServer.start();
  });
  afterAll(() => server?.dispose());

  describeConformance("etcd", open);
  describeModel("etcd", open, { runs: 10 });

  it("stores under different prefixes don't see each other, nor move each other's revision", async () => {
    const [a, b] = [await open(), await open()];
    const before = await b.store.latestRevision();
    await create(a.store, "/g/r/n/x", "1");
    expect(await b.store.latestRevision()).toBe(before);
    expect(await b.store.get("/g/r/n/x")).toBe(undefined);
    await a.dispose();
    await b.dispose();
  });

  it("the past is read from the cluster when memory doesn't reach back", async () => {
    const subject = await open();
    const start = await subject.store.latestRevision();
    for (let i = 0; i < 5; i++) await create(subject.store, `/g/r/n/${i}`, `${i}`);
    const late = await subject.another();
    const { recorder, subscription } = record(late, "/g/r/", start);
    await subscription.sync();
    expect(recorder.lines).toEqual([0, 1, 2, 3, 4].map((i) => `create /g/r/n/${i} ${i}`));
    await create(subject.store, "/g/r/n/5", "5");
    await subscription.sync();
    expect(recorder.heard.length).toBe(6);
    await subject.dispose();
  });

  it("a compaction by someone else is learnt with its revision", async () => {
    const subject = await open();
    const first = await create(subject.store, "/g/r/n/x", "1");
    const change = { kind: "update" as const, key: "/g/r/n/x", expected: first, draft: draft("2") };
    await subject.store.commit(change);
    const other = await open();
    const floor = await create(other.store, "/g/r/n/x", "1");
    other.advance(10_000);
    await other.store.compact(other.now());
    await expect(subject.store.get("/g/r/n/x", first)).rejects.toThrow(
      new RevisionCompactedError(first, floor),
    );
    const { recorder } = record(await subject.another(), "/g/r/", first);
    await until(() => recorder.endings.length === 1, "the subscription ends");
    expect(recorder.endings[0]).toBeInstanceOf(RevisionCompactedError);
    await other.dispose();
    await subject.dispose();
  });
});

describe.skipIf(etcdMissing !== undefined)("etcd that goes away", () => {
  it("subscriptions resume without gap or duplicate; requests fail with a clear message meanwhile", async () => {
    const own = await EtcdServer.start();
    const clock = new ManualClock();
    const connect = () =>
      connectEtcdStore({ endpoints: [own.endpoint], prefix: "/p", clock, timeoutMs: 3000 });
    const store = await connect();
    const { recorder, subscription } = record(store, "/g/", await store.latestRevision());
    await create(store, "/g/r/n/a", "1");
    await own.kill();
    await expect(store.get("/g/r/n/a")).rejects.toThrow(StoreUnavailableError);
    await expect(store.get("/g/r/n/a")).rejects.toThrow(own.endpoint);
    await own.run();
    const second = await connect();
    await create(second, "/g/r/n/b", "2");
    const resumed = until(() => recorder.heard.length === 2, "the event of the other store arrives");
    const ticking = setInterval(() => clock.advance(1000), 5);
    await resumed;
    clearInterval(ticking);
    await subscription.sync();
    expect(recorder.lines).toEqual(["create /g/r/n/a 1", "create /g/r/n/b 2"]);
    expect(textOf(await store.get("/g/r/n/b"))).toBe("2");
    await store.close();
    await second.close();
    await own.dispose();
  });

  it.skipIf(spawnSync("openssl", ["version"]).status !== 0)(
    "is spoken to with TLS and a client's certificate (needs openssl)",
    async () => {
      const folder = temporaryFolder();
      const tls = makeCertificates(folder.path);
      const own = await EtcdServer.start({ tls });
      const options = { endpoints: [own.endpoint], prefix: "/p", clock: new ManualClock(), timeoutMs: 2000 };
      const store = await connectEtcdStore({ ...options, ...tls });
      const { recorder } = record(store, "/g/", await store.latestRevision());
      await create(store, "/g/r/n/a", "1");
      expect(recorder.lines).toEqual(["create /g/r/n/a 1"]);
      await store.close();
      // The certificate itself is an anchor too.
      const anchored = await connectEtcdStore({ ...options, ...tls, caFile: tls.serverCert });
      expect(textOf(await anchored.get("/g/r/n/a"))).toBe("1");
      await anchored.close();
      await expect(connectEtcdStore(options)).rejects.toThrow(StoreUnavailableError);
      await own.dispose();
      folder.remove();
    },
  );

  it("refuses to connect where nobody answers", async () => {
    const connecting = connectEtcdStore({
      endpoints: ["127.0.0.1:1"],
      prefix: "/p",
      clock: new ManualClock(),
      timeoutMs: 500,
    });
    await expect(connecting).rejects.toThrow(StoreUnavailableError);
  });
});
