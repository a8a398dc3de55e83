import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Clock } from "../../src/base/time/clock.ts";
import { create, readAll, remove, textOf, update } from "../../src/storage/conformance/support.ts";
import { backupLmdb } from "../../src/storage/lmdb/backup/backup.ts";
import { checkBackup, restoreLmdb, type RestoreOptions } from "../../src/storage/lmdb/backup/restore.ts";
import { keepHistory } from "../../src/storage/history/history-store.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { type Revision, RevisionCompactedError, StoreDamagedError } from "../../src/storage/store.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { temporaryFolder } from "./support.ts";

describe("restoring a past state from the history of a backup", () => {
  const folder = temporaryFolder();
  afterAll(folder.remove);
  const path = (name: string): string => join(folder.path, name);
  /** States by the revision that wrote them, with the time after it. */
  const states: { revision: Revision; timeMs: number; pairs: unknown }[] = [];

  beforeAll(async () => {
    let now = systemClock.now() - 60_000;
    const clock: Clock = { ...systemClock, now: () => now, monotonicNow: () => now };
    const store = openLmdbStore({ dir: path("live"), clock, retentionMs: Infinity });
    const note = async (revision: Revision) => {
      states.push({ revision, timeMs: now + 500, pairs: (await readAll(store, "/g/r/")).pairs });
      now += 1000;
    };
    const a = await create(store, "/g/r/n/a", "1");
    await note(a);
    const b = await create(store, "/g/r/n/b", "1");
    await note(b);
    const a2 = await update(store, "/g/r/n/a", a, "2");
    await note(a2);
    await note(await remove(store, "/g/r/n/b", b));
    await note(await create(store, "/g/r/n/c", "1"));
    const again = await create(store, "/g/r/n/b", "3");
    await note(again);
    await store.close();
    await backupLmdb(path("live"), path("backup"));
  });

  let count = 0;
  async function restored(options: RestoreOptions) {
    const dir = path(`restored-${count++}`);
    const { revision } = await restoreLmdb(path("backup"), dir, options);
    const store = openLmdbStore({ dir, clock: systemClock });
    try {
      const { pairs } = await readAll(store, "/g/r/");
      return { revision, pairs, problems: await store.check(), latest: await store.latestRevision(), store };
    } finally {
      await store.close();
    }
  }

  it("gives every key its value of the revision or time", async () => {
    for (const { revision, timeMs, pairs } of states) {
      for (const point of [{ revision }, { timeMs }])
        expect(await restored({ point }), JSON.stringify(point)).toMatchObject({
          revision,
          pairs,
          problems: [],
        });
    }
  });

  it("continues above every revision that the original can have assigned since, without history", async () => {
    const { revision } = states.at(-1)!;
    const dir = path("skipped");
    await restoreLmdb(path("backup"), dir);
    const store = openLmdbStore({ dir, clock: systemClock });
    const latest = await store.latestRevision();
    expect(latest).toBeGreaterThanOrEqual(revision + 1_000_000);
    expect(await store.floor()).toBe(latest);
    expect(() => store.get("/g/r/n/a", revision)).toThrow(RevisionCompactedError);
    expect(await store.check()).toEqual([]);
    await store.close();
  });

  it("begins at another revision each time, without history of another restore", async () => {
    const latest: number[] = [];
    for (let restores = 0; restores < 3; restores++) latest.push((await restored({})).latest);
    const [first, second, third] = latest.toSorted((a, b) => a - b) as [number, number, number];
    // The revisions of some writes after one restore are not those of another one.
    expect(Math.min(second - first, third - second)).toBeGreaterThan(10);
  });

  it("keeps revisions and history on request: watches see the way back as changes", async () => {
    const dir = path("kept");
    const { revision } = states[2]!;
    await restoreLmdb(path("backup"), dir, { point: { revision }, keepsRevisions: true });
    const store = openLmdbStore({ dir, clock: systemClock });
    const events: string[] = [];
    const subscription = store.subscribe(
      { prefix: "/g/r/", after: states.at(-1)!.revision },
      {
        events: (batch) => {
          for (const { key, entry } of batch)
            events.push(`${key} ${entry === undefined ? "deleted" : "put"}`);
        },
        ended: (error) => events.push(error.message),
      },
    );
    await subscription.sync();
    subscription.close();
    await store.close();
    expect(events.toSorted()).toEqual(["/g/r/n/b put", "/g/r/n/c deleted"]);
  });

  it.each([
    ["a later revision", { revision: 99 }, /has the revisions 1 to 7; revision 99 isn't one/],
    [
      "a time before the first write",
      { timeMs: 5000 },
      /has the states from 20.* to 20.*; 1970-.* is outside/,
    ],
    ["a time after the backup", { timeMs: systemClock.now() + 3_600_000 }, /is outside: choose another/],
  ])("refuses %s, and leaves the target empty", async (_, point, message) => {
    const target = path(`refused-${count++}`);
    await expect(restoreLmdb(path("backup"), target, { point })).rejects.toThrow(message);
    await restoreLmdb(path("backup"), target);
  });

  it("a check reads the whole backup and changes nothing", async () => {
    const data = () => readFileSync(path("backup/data.mdb"));
    const before = data();
    expect(await checkBackup(path("backup"))).toEqual({ revision: states.at(-1)!.revision, files: [] });
    expect(data().equals(before)).toBe(true);
    await expect(checkBackup(path("live"))).rejects.toThrow(StoreDamagedError);
  });
});

it("a restore is part of the history that the store keeps, and leaves what it kept as it was", async () => {
  const folder = temporaryFolder();
  const live = join(folder.path, "live");
  const options = {
    clock: systemClock,
    collections: new Map([["/g/r/", { ms: 3_600_000 }]]),
    drops: false,
    failed: () => undefined,
  };
  const open = (dir: string) =>
    keepHistory(openLmdbStore({ dir, clock: systemClock, retentionMs: Infinity }), options);
  try {
    const store = await open(live);
    const first = await create(store, "/g/r/n/x", "1");
    const second = await update(store, "/g/r/n/x", first, "2");
    await create(store, "/g/r/n/y", "1");
    await store.close();
    await backupLmdb(live, join(folder.path, "backup"));
    const dir = join(folder.path, "restored");
    await restoreLmdb(join(folder.path, "backup"), dir, { point: { revision: first } });
    const restored = await open(dir);
    const { versions } = await restored.history!.versions("/g/r/n/x", { limit: 10 });
    expect(versions.map(({ previous }) => previous)).toEqual([second, first, 0]);
    expect(
      (await restored.history!.deletions("/g/r/", { limit: 10 })).versions.map(({ key }) => key),
    ).toEqual(["/g/r/n/y"]);
    await restored.compact(systemClock.now() + 1000);
    expect(textOf(await restored.get("/g/r/n/x", second))).toBe("2");
    expect(textOf(await restored.get("/g/r/n/x"))).toBe("1");
    await restored.close();
  } finally {
    folder.remove();
  }
});
