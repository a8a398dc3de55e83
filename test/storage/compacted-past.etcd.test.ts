import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { Follower } from "../../src/resources/followers/follower.ts";
import { create, draft, record, remove, until } from "../../src/storage/conformance/support.ts";
import { connectEtcdStore } from "../../src/storage/etcd/etcd-store.ts";
import { RevisionCompactedError, type Revision, type Store } from "../../src/storage/store.ts";
import { PausableProxy } from "../support/pausable-proxy.ts";
import { EtcdServer, etcdMissing } from "./etcd-server.ts";

const count = 40;
const keys = Array.from({ length: count }, (_, i) => `/g/r/n/${i}`);
/** Large enough that etcd can't send all events ahead to a client that doesn't read. */
const filler = "x".repeat(20_000);

describe.skipIf(etcdMissing !== undefined)(`etcd is compacted past a replica (${etcdMissing ?? ""})`, () => {
  let etcd: EtcdServer;
  let proxy: PausableProxy;
  let ahead: Store;
  let behind: Store;

  beforeAll(async () => {
    etcd = await EtcdServer.start();
    proxy = await PausableProxy.start(etcd.port);
    const options = { prefix: "/p", clock: systemClock };
    ahead = await connectEtcdStore({ ...options, endpoints: [etcd.endpoint] });
    behind = await connectEtcdStore({ ...options, endpoints: [`127.0.0.1:${proxy.port}`] });
  });
  afterAll(async () => {
    proxy?.resume();
    await behind?.close();
    await ahead?.close();
    await proxy?.close();
    await etcd?.dispose();
  });

  it("no delete is lost silently: its watches end as compacted, and followers load again", async () => {
    for (const key of keys) await create(ahead, key, filler);
    const known = new Set<string>();
    const handler = {
      put: ({ key }: { key: string }) => void known.add(key),
      remove: (key: string) => void known.delete(key),
      failed: () => undefined,
    };
    const follower = new Follower(behind, "/g/r/", handler, systemClock);
    await follower.start();
    const { recorder } = record(behind, "/g/r/", await behind.latestRevision());
    expect(known.size).toBe(count);

    proxy.pause();
    const changed: Revision[] = [];
    for (const key of keys) {
      const expected = (await ahead.get(key))!.revision;
      const result = await ahead.commit({ kind: "update", key, expected, draft: draft(filler) });
      if (result.ok) changed.push(result.revision);
    }
    for (const [i, key] of keys.entries()) await remove(ahead, key, changed[i]!);
    await ahead.compact(systemClock.now() + 60_000);
    proxy.resume();

    await until(() => recorder.endings.length > 0, "the watch ends", 20_000);
    expect(recorder.endings[0]).toBeInstanceOf(RevisionCompactedError);
    // What was heard before is whole: the recorder checks that each event fits the one before.
    for (const { entry, previous } of recorder.heard)
      expect(entry === undefined && previous === undefined).toBe(false);
    await follower.sync();
    expect(known).toEqual(new Set());
    await create(ahead, "/g/r/n/new", "1");
    await follower.sync();
    expect(known).toEqual(new Set(["/g/r/n/new"]));
    follower.close();
  });
});
