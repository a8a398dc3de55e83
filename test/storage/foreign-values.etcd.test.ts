import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, draft, record, until } from "../../src/storage/conformance/support.ts";
import { connectEtcdStore } from "../../src/storage/etcd/etcd-store.ts";
import type { Store } from "../../src/storage/store.ts";
import { EtcdServer, etcdMissing } from "./etcd-server.ts";

describe.skipIf(etcdMissing !== undefined)(`values of other programs in etcd (${etcdMissing ?? ""})`, () => {
  let etcd: EtcdServer;
  let store: Store;
  const warnings: string[] = [];
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  /** Writes a value as another program, through the JSON gateway of etcd. */
  async function put(key: string, value: string): Promise<void> {
    const body = JSON.stringify({ key: base64(`/p/data${key}`), value: base64(value) });
    const { status } = await fetch(`${etcd.endpoint}/v3/kv/put`, { method: "POST", body });
    expect(status).toBe(200);
  }

  beforeAll(async () => {
    etcd = await EtcdServer.start();
    store = await connectEtcdStore({
      prefix: "/p",
      clock: systemClock,
      endpoints: [etcd.endpoint],
      timeoutMs: 3000,
      warn: (message) => warnings.push(message),
    });
  });
  afterAll(async () => {
    await store?.close();
    await etcd?.dispose();
  });

  it("are skipped by writes, watches and lists, and reported once", async () => {
    const { recorder } = record(store, "/g/r/", await store.latestRevision());
    const first = await create(store, "/g/r/n/a", "a");
    await put("/g/r/n/b", "not ours");
    const second = await create(store, "/g/r/n/c", "c");
    await until(() => recorder.heard.length === 2, "both writes are seen");
    expect(recorder.endings).toEqual([]);
    const keysOf = async (limit?: number) => (await store.range({ prefix: "/g/r/", limit })).entries;
    expect((await keysOf()).map(({ key }) => key)).toEqual(["/g/r/n/a", "/g/r/n/c"]);
    expect((await keysOf(2)).map(({ key }) => key)).toEqual(["/g/r/n/a", "/g/r/n/c"]);
    expect(second).toBeGreaterThan(first);
    expect(warnings).toEqual([expect.stringContaining("/g/r/n/b has format version 110, not 1")]);
    expect(await store.check()).toEqual(["the value of /g/r/n/b has format version 110, not 1"]);
  });

  it("an object that another program overwrites is deleted for watches", async () => {
    const { recorder } = record(store, "/g/s/", await store.latestRevision());
    await create(store, "/g/s/n/a", "a");
    await put("/g/s/n/a", "not ours");
    await store.commit({ kind: "create", key: "/g/s/n/b", draft: draft("b") });
    await until(() => recorder.heard.length === 3, "the deletion is seen");
    expect(recorder.heard.map(({ entry }) => entry !== undefined)).toEqual([true, false, true]);
  });

  it("are removed with discard, which leaves values of the store", async () => {
    const { recorder } = record(store, "/g/t/", await store.latestRevision());
    await create(store, "/g/t/n/a", "a");
    await put("/g/t/n/b", "not ours");
    const before = await store.latestRevision();
    expect(await store.discard!("/g/t/n/b", true)).toBe("discarded");
    expect(await store.latestRevision()).toBe(before);
    expect(await store.discard!("/g/t/n/a", false)).toBe("readable");
    expect(await store.discard!("/g/t/n/b", false)).toBe("discarded");
    expect(await store.discard!("/g/t/n/b", false)).toBe("absent");
    await create(store, "/g/t/n/b", "b");
    await until(() => recorder.heard.length === 2, "the later write is seen");
    expect(recorder.endings).toEqual([]);
    expect(recorder.heard.map(({ key }) => key)).toEqual(["/g/t/n/a", "/g/t/n/b"]);
  });
});
