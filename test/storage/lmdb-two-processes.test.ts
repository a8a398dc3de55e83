import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, draft, record, textOf, until } from "../../src/storage/conformance/support.ts";
import { type LmdbStore, openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import type { Revision } from "../../src/storage/store.ts";
import { Child } from "./child.ts";
import { ManualClock, temporaryFolder } from "./support.ts";

describe.each([
  { name: "that sync each write", ours: undefined, theirs: undefined },
  { name: "of which one defers syncs", ours: 1000, theirs: undefined },
  { name: "that both defer syncs", ours: 1000, theirs: 1000 },
])("two processes over one embedded folder $name", ({ ours: intervalMs, theirs: childIntervalMs }) => {
  const deferredSyncMs = intervalMs === undefined ? undefined : new Map([["/g/r/", intervalMs]]);
  const folder = temporaryFolder();
  let store: LmdbStore;
  let child: Child;

  beforeAll(async () => {
    store = openLmdbStore({ dir: folder.path, clock: systemClock, deferredSyncMs });
    const args = childIntervalMs === undefined ? [] : [String(childIntervalMs)];
    child = new Child("./two-process-writer.ts", [folder.path, ...args]);
    await child.until((lines) => lines.includes("ready"));
  });
  afterAll(async () => {
    await child.kill();
    await store.close();
    folder.remove();
  });

  /** Lets the child run a command to its end; gives what it said. */
  async function tell(command: string): Promise<string[]> {
    const from = child.lines.length;
    child.send(command);
    await child.until((lines) => lines.at(-1) === "done" && lines.length > from);
    return child.lines.slice(from, -1);
  }

  it("serialises writes: increments by compare and swap from both are all counted", async () => {
    const key = "/g/r/n/counter";
    await create(store, key, "0");
    const theirs = tell(`race ${key} 50`);
    for (let done = 0; done < 50;) {
      const seen = store.get(key);
      const entry = (await seen)!;
      const next = draft(String(Number(textOf(entry)) + 1));
      const result = await store.commit({ kind: "update", key, expected: entry.revision, draft: next });
      if (result.ok) done++;
    }
    await theirs;
    expect(textOf(await store.get(key))).toBe("100");
    expect(await store.check()).toEqual([]);
  });

  it("delivers the other's commits in order with one's own, by itself", async () => {
    const { recorder, subscription } = record(store, "/g/r/", await store.latestRevision());
    const theirs = tell("write order 60");
    const ours: Revision[] = [];
    for (let i = 0; i < 60; i++) ours.push(await create(store, `/g/r/n/ours${i}`, "x"));
    const acks = (await theirs).map((line) => Number(line.split(" ")[1]));
    await subscription.sync();
    expect(recorder.revisions).toEqual([...ours, ...acks].toSorted((a, b) => a - b));
    subscription.close();
  });

  it("delivers by file notifications, without polling, when idle", async () => {
    // Its clock stands still, so that it never polls.
    const idle = openLmdbStore({ dir: folder.path, clock: new ManualClock() });
    const { recorder, subscription } = record(idle, "/g/r/", await idle.latestRevision());
    const acks = await tell("write latency 100");
    await until(() => recorder.revisions.length === 100, "every commit is delivered");
    expect(recorder.revisions).toEqual(acks.map((line) => Number(line.split(" ")[1])));
    subscription.close();
    await idle.close();
  });

  it("latestRevision and sync are exact at once, whatever the other just did", async () => {
    const { recorder, subscription } = record(store, "/g/r/", await store.latestRevision());
    for (let i = 0; i < 20; i++) {
      const [ack] = await tell(`write exact${i}- 1`);
      const revision = Number(ack!.split(" ")[1]);
      expect(store.latestRevision()).toBe(revision);
      const reached = subscription.sync();
      expect(reached).toBe(revision);
      expect(recorder.revisions.at(-1)).toBe(revision);
    }
    subscription.close();
  });
});
