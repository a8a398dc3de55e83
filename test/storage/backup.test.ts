import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, readAll, update } from "../../src/storage/conformance/support.ts";
import { backupLmdb } from "../../src/storage/lmdb/backup/backup.ts";
import { restoreLmdb } from "../../src/storage/lmdb/backup/restore.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { type Revision, StoreDamagedError } from "../../src/storage/store.ts";
import { temporaryFolder } from "./support.ts";

describe("backup and restore of an embedded store", () => {
  const folder = temporaryFolder();
  afterAll(folder.remove);
  const path = (name: string): string => join(folder.path, name);

  it("is consistent at one revision while writes go on, and restores to exactly that", async () => {
    const store = openLmdbStore({ dir: path("live"), clock: systemClock });
    // Writers keep two keys in step: the second is only written when the first is, one revision later.
    let revisions: [Revision, Revision] = [
      await create(store, "/g/r/n/a", "0"),
      await create(store, "/g/r/n/b", "0"),
    ];
    const progress = { rounds: 0, stop: false };
    const writing = (async () => {
      while (!progress.stop) {
        const rounds = ++progress.rounds;
        const a = await update(store, "/g/r/n/a", revisions[0], `${rounds}`);
        const b = await update(store, "/g/r/n/b", revisions[1], `${rounds}`);
        revisions = [a, b];
        await create(store, `/g/r/n/extra${rounds}`, "x".repeat(3000));
      }
    })();
    while (progress.rounds < 10) await new Promise((resolve) => setImmediate(resolve));
    const { revision } = await backupLmdb(store, path("backup"));
    const after = progress.rounds;
    progress.stop = true;
    await writing;
    expect(await backupLmdb(path("live"), path("second"))).toMatchObject({
      revision: await store.latestRevision(),
    });
    const live = await readAll(store, "/g/r/", { at: revision });
    await store.close();

    const keeping = { keepsRevisions: true };
    expect(await restoreLmdb(path("backup"), path("restored"), keeping)).toMatchObject({ revision });
    const restored = openLmdbStore({ dir: path("restored"), clock: systemClock });
    expect(await restored.latestRevision()).toBe(revision);
    expect((await readAll(restored, "/g/r/")).pairs).toEqual(live.pairs);
    expect(live.pairs.length).toBeGreaterThan(10);
    expect(after).toBeGreaterThan(9);
    expect(await restored.check()).toEqual([]);
    expect(await create(restored, "/g/r/n/new", "1")).toBe(revision + 1);
    await restored.close();
  });

  it("refuses a target that isn't empty, and leaves it alone", async () => {
    await expect(restoreLmdb(path("backup"), path("restored"))).rejects.toThrow(/restored is not empty/);
    await expect(backupLmdb(path("live"), path("restored"))).rejects.toThrow(/restored is not empty/);
    const restored = openLmdbStore({ dir: path("restored"), clock: systemClock });
    expect(await restored.check()).toEqual([]);
    await restored.close();
  });

  it("refuses a source without a store, and a backup that is incomplete", async () => {
    await expect(backupLmdb(path("nowhere"), path("t1"))).rejects.toThrow(StoreDamagedError);
    await expect(restoreLmdb(path("live"), path("t2"))).rejects.toThrow(/not a complete backup/);
  });

  it("refuses a damaged backup before it writes to the target", async () => {
    const file = join(path("second"), "data.mdb");
    const bytes = readFileSync(file);
    const flipped = Buffer.from(bytes);
    flipped[bytes.length - 100]! ^= 1;
    writeFileSync(file, flipped);
    await expect(restoreLmdb(path("second"), path("t3"))).rejects.toThrow(/checksum differs/);
    truncateSync(file, bytes.length - 4096);
    await expect(restoreLmdb(path("second"), path("t3"))).rejects.toThrow(/cut off/);
    writeFileSync(file, bytes);
    await restoreLmdb(path("second"), path("t3"));
  });

  describe("with files beside the store", () => {
    const keys = (name: string) => [{ name: "keys", dir: path(name) }];

    it("copies them for their owner alone, and says what the store is used for", async () => {
      const stamp = { label: "red", format: 1, telltales: new Map<string, string>() };
      await openLmdbStore({ dir: path("stamped"), clock: systemClock, stamp }).close();
      mkdirSync(path("own-keys"));
      writeFileSync(path("own-keys/a.key"), "secret", { mode: 0o644 });
      writeFileSync(path("own-keys/a.key.17.new"), "half");
      const expected = { stamp: { label: "red", format: 1 }, files: ["keys/a.key"] };
      expect(await backupLmdb(path("stamped"), path("beside"), { folders: keys("own-keys") })).toMatchObject(
        expected,
      );
      expect(await restoreLmdb(path("beside"), path("r1"), { folders: keys("r1-keys") })).toMatchObject(
        expected,
      );
      for (const dir of ["beside/keys", "r1-keys"]) {
        expect(readdirSync(path(dir))).toEqual(["a.key"]);
        expect(readFileSync(path(`${dir}/a.key`), "utf8")).toBe("secret");
        expect(statSync(path(`${dir}/a.key`)).mode & 0o777).toBe(0o600);
        expect(statSync(path(dir)).mode & 0o777).toBe(0o700);
      }
      for (const file of ["beside/data.mdb", "beside/backup.json", "r1/data.mdb"])
        expect(statSync(path(file)).mode & 0o077, file).toBe(0);
    });

    it("refuses changed or missing ones, and a folder that isn't empty, before anything is written", async () => {
      await expect(restoreLmdb(path("beside"), path("r2"), { folders: keys("r1-keys") })).rejects.toThrow(
        /not empty/,
      );
      writeFileSync(path("beside/keys/a.key"), "other!");
      await expect(restoreLmdb(path("beside"), path("r2"), { folders: keys("r2-keys") })).rejects.toThrow(
        /keys\/a\.key is not what was backed up/,
      );
      rmSync(path("beside/keys/a.key"));
      await expect(restoreLmdb(path("beside"), path("r2"), { folders: keys("r2-keys") })).rejects.toThrow(
        /not a complete backup/,
      );
      expect(existsSync(path("r2"))).toBe(false);
      expect(existsSync(path("r2-keys"))).toBe(false);
    });

    it("restores a backup of a version that copied none", async () => {
      const manifest = JSON.parse(readFileSync(path("second/backup.json"), "utf8")) as object;
      writeFileSync(path("second/backup.json"), JSON.stringify({ ...manifest, files: undefined }));
      expect(await restoreLmdb(path("second"), path("r3"), { folders: keys("r3-keys") })).toMatchObject({
        files: [],
      });
      expect(existsSync(path("r3-keys"))).toBe(false);
    });
  });
});
