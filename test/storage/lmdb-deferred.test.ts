import fs, { copyFileSync, mkdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { create, readAll, textOf, until, update } from "../../src/storage/conformance/support.ts";
import { checksumOfText } from "../../src/storage/lmdb/checksum.ts";
import { backupLmdb } from "../../src/storage/lmdb/backup/backup.ts";
import { type LmdbStore, openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { type Store, StoreDamagedError } from "../../src/storage/store.ts";
import { Child } from "./child.ts";
import { fillUp } from "./fill-up.ts";
import { effort } from "../support/effort.ts";
import { describeModel } from "./model.ts";
import { describeConformance, inFolder, ManualClock, temporaryFolder } from "./support.ts";

const intervalMs = 1000;

/** The interval of each collection that a function selects. */
class SelectedCollections extends Map<string, number> {
  constructor(private readonly isDeferred: (collection: string) => boolean) {
    super([["/g/any/", intervalMs]]);
  }

  override get(collection: string): number | undefined {
    return this.isDeferred(collection) ? intervalMs : undefined;
  }
}

const selections = [
  { name: "of all collections", isDeferred: () => true },
  { name: "of half of the collections", isDeferred: (text: string) => checksumOfText(text) % 2 === 0 },
];

for (const { name, isDeferred } of selections) {
  const open = inFolder((options) =>
    openLmdbStore({ ...options, deferredSyncMs: new SelectedCollections(isDeferred) }),
  );
  if (effort(false, true)) describeConformance(`lmdb with deferred syncs ${name}`, open);
  describeModel(`lmdb with deferred syncs ${name}`, open, { runs: effort(8, 25) });
}

const disposals: (() => unknown)[] = [];
afterEach(async () => {
  for (const dispose of disposals.splice(0).toReversed()) await dispose();
});

interface Subject {
  readonly dir: string;
  readonly clock: ManualClock;
  readonly store: LmdbStore;
  readonly failures: unknown[];
}

function opened(): Subject {
  const clock = new ManualClock();
  const folder = temporaryFolder();
  const dir = join(folder.path, "store");
  const failures: unknown[] = [];
  const deferredSyncMs = new Map([["/g/leases/", intervalMs]]);
  const failed = (error: unknown) => failures.push(error);
  const store = openLmdbStore({ dir, clock, deferredSyncMs, failed });
  disposals.push(folder.remove, () => store.close());
  return { dir, clock, store, failures };
}

/** Opens a copy of the data file, as after a power failure in which the system had written all pages. */
function openCopy({ dir, clock }: Subject): LmdbStore {
  const copy = join(dir, "copy");
  mkdirSync(copy);
  copyFileSync(join(dir, "data.mdb"), join(copy, "data.mdb"));
  const store = openLmdbStore({ dir: copy, clock });
  disposals.push(() => store.close());
  return store;
}

async function keysOf(store: Store): Promise<string[]> {
  return (await readAll(store, "/g/")).pairs.map(([key]) => key.slice(3));
}

describe("an embedded store with deferred syncs", () => {
  it("acknowledges a write before its sync, and syncs it after the interval", async () => {
    const subject = opened();
    const { store, clock } = subject;
    expect(store.usage().unsyncedMs).toBeUndefined();
    await create(store, "/g/leases/n/a", "1");
    clock.advance(400);
    await create(store, "/g/leases/n/b", "1");
    expect(store.usage().unsyncedMs).toBe(400);
    clock.advance(intervalMs - 401);
    expect(store.usage().unsyncedMs).toBe(intervalMs - 1);
    clock.advance(1);
    await until(() => store.usage().unsyncedMs === 0, "everything is synced");
    await create(store, "/g/leases/n/c", "1");
    expect(await keysOf(openCopy(subject))).toEqual(["leases/n/a", "leases/n/b"]);
  });

  it("syncs earlier writes with the next one of another collection", async () => {
    const subject = opened();
    const { store } = subject;
    const revision = await create(store, "/g/leases/n/a", "1");
    await create(store, "/g/objects/n/b", "1");
    expect(store.usage().unsyncedMs).toBe(0);
    await update(store, "/g/leases/n/a", revision, "2");
    const copy = openCopy(subject);
    expect(await keysOf(copy)).toEqual(["leases/n/a", "objects/n/b"]);
    expect(textOf(await copy.get("/g/leases/n/a"))).toBe("1");
  });

  it("continues above all lost revisions after a power failure, and refuses positions of before", async () => {
    const subject = opened();
    const { store } = subject;
    const first = await create(store, "/g/objects/n/a", "1");
    const lost = await create(store, "/g/leases/n/b", "1");
    const copy = openCopy(subject);
    const next = await create(copy, "/g/leases/n/c", "1");
    expect(next).toBeGreaterThan(lost + 1);
    expect(copy.floor()).toBe(next - 1);
    for (const at of [first, lost])
      expect(() => copy.get("/g/objects/n/a", at)).toThrow(/no longer retained/);
    expect(await copy.check()).toEqual([]);
  });

  it("keeps history and revisions when it is closed, in a form that other versions read", async () => {
    const subject = opened();
    const { dir, clock, store } = subject;
    const first = await create(store, "/g/leases/n/a", "1");
    const second = await update(store, "/g/leases/n/a", first, "2");
    await store.close();
    const copy = openCopy(subject);
    expect(copy.latestRevision()).toBe(second);
    expect(textOf(await copy.get("/g/leases/n/a", first))).toBe("1");
    expect(copy.usage().unsyncedMs).toBeUndefined();
    const again = openLmdbStore({ dir, clock });
    expect(await create(again, "/g/leases/n/b", "1")).toBe(second + 1);
    await again.close();
  });

  it("has all acknowledged writes in a backup, in a form that other versions read", async () => {
    const { dir, clock, store } = opened();
    await create(store, "/g/leases/n/a", "1");
    const { revision } = await backupLmdb(store, join(dir, "backup"));
    expect(revision).toBe(store.latestRevision());
    const copy = openLmdbStore({ dir: join(dir, "backup"), clock });
    disposals.push(() => copy.close());
    expect(await keysOf(copy)).toEqual(["leases/n/a"]);
    expect(copy.usage().unsyncedMs).toBeUndefined();
  });

  it("loses no write of another process, which syncs what was deferred before it writes", async () => {
    const subject = opened();
    const { dir, store } = subject;
    await create(store, "/g/leases/n/a", "1");
    const child = new Child("./two-process-writer.ts", [dir]);
    disposals.push(() => child.kill());
    await child.until((lines) => lines.includes("ready"));
    child.send("write theirs 1");
    await child.until((lines) => lines.includes("done"));
    expect(store.usage().unsyncedMs).toBeUndefined();
    await create(store, "/g/leases/n/b", "1");
    expect(await keysOf(openCopy(subject))).toEqual(["leases/n/a", "leases/n/b", "r/n/theirs0"]);
  });

  it("refuses all writes after a sync has failed, and continues with the synced state after a restart", async () => {
    const subject = opened();
    const { dir, clock, store, failures } = subject;
    await create(store, "/g/objects/n/a", "1");
    await create(store, "/g/leases/n/b", "1");
    const original = fs.fdatasync;
    const failing = (_: number, done: (error: Error) => void) => done(new Error("EIO: i/o error, fdatasync"));
    fs.fdatasync = Object.assign(failing, { __promisify__: original.__promisify__ });
    syncBuiltinESMExports();
    try {
      clock.advance(intervalMs);
      await until(() => failures.length > 0, "the sync fails");
    } finally {
      fs.fdatasync = original;
      syncBuiltinESMExports();
    }
    const message = /could not be synced \(Error: EIO.*restart the server/;
    for (const key of ["/g/objects/n/c", "/g/leases/n/c"])
      await expect(create(store, key, "1")).rejects.toThrow(message);
    expect(await store.writeObstacle()).toBeInstanceOf(StoreDamagedError);
    await store.close();
    const again = openLmdbStore({ dir, clock });
    disposals.push(() => again.close());
    expect(await keysOf(again)).toEqual(["objects/n/a"]);
    await create(again, "/g/objects/n/c", "1");
    expect(await again.check()).toEqual([]);
  });

  it("syncs commits for a while after two that blocked the event loop", async () => {
    const subject = opened();
    const { store, clock } = subject;
    await create(store, "/g/leases/n/a", "1");
    let time = clock.monotonicNow();
    const monotonicNow = vi.spyOn(clock, "monotonicNow").mockImplementation(() => (time += 30));
    await create(store, "/g/leases/n/b", "1");
    await create(store, "/g/leases/n/c", "1");
    monotonicNow.mockRestore();
    await create(store, "/g/leases/n/d", "1");
    expect(await keysOf(openCopy(subject))).toEqual(["a", "b", "c", "d"].map((name) => `leases/n/${name}`));
  });

  it("refuses writes above its size limit, and loses nothing", async () => {
    const folder = temporaryFolder();
    disposals.push(folder.remove);
    const store = openLmdbStore({
      dir: folder.path,
      clock: new ManualClock(),
      mapSize: 2 * 1024 * 1024,
      deferredSyncMs: new Map([["/full/test/", intervalMs]]),
    });
    disposals.push(() => store.close());
    const outcome = await fillUp(store);
    expect(outcome).toMatchObject({ refusedAs: "StoreFullError", problems: [] });
    expect(outcome.acknowledged).toBeGreaterThan(8);
    expect(outcome.readBack).toBe(outcome.acknowledged);
  });
});
