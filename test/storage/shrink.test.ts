import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, readAll, textOf, update } from "../../src/storage/conformance/support.ts";
import { Compactor } from "../../src/storage/lmdb/compactor.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { shrinkLmdb } from "../../src/storage/lmdb/shrink.ts";
import { StoreTimeoutError, type Revision } from "../../src/storage/store.ts";
import { retentionOf } from "../../src/storage/lmdb/retention.ts";
import { until } from "../api/support.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { Child } from "./child.ts";
import { program } from "../support/process.ts";
import { plinthHere } from "../support/program-here.ts";
import { temporaryFolder } from "./support.ts";

const folder = temporaryFolder();
afterAll(folder.remove);
const path = (name: string): string => join(folder.path, name);
const sizeOf = (name: string): number => statSync(join(path(name), "data.mdb")).size;
const manyTexts = Array.from({ length: 400 }, (_, index) => `/g/r/n/k${String(index).padStart(4, "0")}`);

/** A store of many objects, of which most are deleted. */
async function filled(name: string): Promise<{ readonly first: Revision; readonly newest: Revision }> {
  const store = openLmdbStore({ dir: path(name), clock: systemClock });
  const made = await Promise.all(manyTexts.map((key) => create(store, key, "x".repeat(3000))));
  await update(store, manyTexts[0]!, made[0]!, "changed");
  for (const [index, key] of manyTexts.entries()) {
    if (index < 20) continue;
    await store.commit({ kind: "delete", key, expected: made[index]! });
  }
  const newest = await store.latestRevision();
  await store.close();
  return { first: made[0]!, newest };
}

describe("a store that is made smaller", () => {
  it("has what it had, in a smaller file, and goes on from its revision", async () => {
    const { newest } = await filled("most-deleted");
    const { before, after } = await shrinkLmdb(path("most-deleted"), systemClock.now() + 1000);
    expect([before, after]).toEqual([before, sizeOf("most-deleted")]);
    expect(after).toBeLessThan(before / 5);
    expect(existsSync(path("most-deleted/shrinking"))).toBe(false);
    const store = openLmdbStore({ dir: path("most-deleted"), clock: systemClock });
    expect(await store.check()).toEqual([]);
    const { pairs } = await readAll(store, "/g/r/");
    expect(pairs).toHaveLength(20);
    expect(textOf(await store.get(manyTexts[0]!))).toBe("changed");
    expect([await store.latestRevision(), await store.floor(), await store.count("/g/r/")]).toEqual([
      newest,
      newest,
      20,
    ]);
    expect(await create(store, "/g/r/n/new", "1")).toBe(newest + 1);
    await store.close();
  });

  it("keeps the history that is younger than asked", async () => {
    const { first, newest } = await filled("with-history");
    await shrinkLmdb(path("with-history"), 0);
    const store = openLmdbStore({ dir: path("with-history"), clock: systemClock });
    expect(await store.check()).toEqual([]);
    expect(textOf(await store.get(manyTexts[0]!, first))).toBe("x".repeat(3000));
    expect((await readAll(store, "/g/r/", { at: first })).pairs.length).toBeGreaterThan(0);
    expect(await store.latestRevision()).toBe(newest);
    await store.close();
  });

  it("says how much room it takes and how much of that is free", async () => {
    await filled("used");
    const store = openLmdbStore({ dir: path("used"), clock: systemClock });
    await store.compact(systemClock.now() + 1000);
    const { totalBytes, freeBytes } = store.usage();
    expect(totalBytes).toBe(sizeOf("used"));
    expect(freeBytes).toBeGreaterThan(totalBytes * 0.8);
    expect(freeBytes).toBeLessThan(totalBytes);
    await store.close();
    const { after } = await shrinkLmdb(path("used"), systemClock.now());
    expect(after).toBeLessThan(totalBytes - freeBytes + 200_000);
  });

  it("is refused without changes while another process has the store open", async () => {
    await filled("open");
    const here = openLmdbStore({ dir: path("open"), clock: systemClock });
    const size = sizeOf("open");
    await expect(shrinkLmdb(path("open"), systemClock.now() + 1000)).rejects.toThrow(
      new RegExp(`in use by process ${process.pid}`),
    );
    await here.close();
    expect(sizeOf("open")).toBe(size);
    const child = new Child("./two-process-writer.ts", [path("open")]);
    try {
      child.send("write there 1");
      await child.until((lines) => lines.length > 0);
      await expect(shrinkLmdb(path("open"), systemClock.now() + 1000)).rejects.toThrow(
        new RegExp(`in use by process ${child.pid}: end that server first; nothing was changed`),
      );
    } finally {
      await child.kill();
    }
  });

  it("takes no notice of what an ended process left, and none of a folder without a store", async () => {
    await filled("left");
    mkdirSync(path("left/shrinking"));
    writeFileSync(path("left/shrinking/data.mdb"), Buffer.alloc(9000, 1));
    await shrinkLmdb(path("left"), 0);
    expect(existsSync(path("left/shrinking"))).toBe(false);
    mkdirSync(path("none"));
    await expect(shrinkLmdb(path("none"), 0)).rejects.toThrow(/no store in it/);
    expect(existsSync(path("none/data.mdb"))).toBe(false);
  });

  it("while others open it loses nothing that they were told is written", async () => {
    mkdirSync(path("opened"));
    const dir = path("opened/store");
    const first = openLmdbStore({ dir, clock: systemClock });
    await Promise.all(
      Array.from({ length: 5000 }, (_, index) => create(first, `/g/r/n/k${index}`, "x".repeat(2000))),
    );
    await first.close();
    const compaction = spawn(process.execPath, [program, "compact", `--data-dir=${path("opened")}`]);
    let ended = false;
    const end = once(compaction, "exit").then(() => (ended = true));
    const written: string[] = [];
    while (!ended) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      try {
        const store = openLmdbStore({ dir, clock: systemClock });
        const key = `/g/r/n/new${written.length}`;
        await create(store, key, "1");
        written.push(key);
        await store.close();
      } catch (error) {
        expect(error).toBeInstanceOf(StoreTimeoutError);
        expect((error as Error).message).toMatch(/was compacted by another process/);
      }
    }
    await end;
    const last = openLmdbStore({ dir, clock: systemClock });
    expect(written.length).toBeGreaterThan(0);
    for (const key of written) expect(textOf(await last.get(key))).toBe("1");
    expect(await last.count("/g/r/")).toBe(5000 + written.length);
    expect(await last.check()).toEqual([]);
    await last.close();
  });

  it("is refused without data loss when another process opens the store after the first check", async () => {
    await filled("late");
    const compact = vi.spyOn(Compactor.prototype, "compact");
    let child: Child | undefined;
    compact.mockImplementation(async () => {
      child = new Child("./two-process-writer.ts", [path("late")]);
      await child.until((lines) => lines.includes("ready"));
      return 0 as Revision;
    });
    try {
      const shrunk = await shrinkLmdb(path("late"), systemClock.now() + 1000).catch(String);
      child!.send("write there 1");
      await child!.until((lines) => lines.includes("done"));
      expect(shrunk).toMatch(new RegExp(`in use by process ${child!.pid}`));
    } finally {
      compact.mockRestore();
      await child?.kill();
    }
    const store = openLmdbStore({ dir: path("late"), clock: systemClock });
    expect(textOf(await store.get("/g/r/n/there0"))).toBe("there");
    await store.close();
  });

  it("by hand: plinth compact says what it came to", async () => {
    mkdirSync(path("data"));
    await filled("data/store");
    const { code, stdout, stderr } = await plinthHere("compact", `--data-dir=${path("data")}`);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^compacted .*data: \d+\.\d MB before, \d+\.\d MB now\n$/);
    const missing = await plinthHere("compact", `--data-dir=${path("nowhere")}`);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("no store in it")]);
  });

  it("by hand: plinth compact keeps the history for as long as the store was last used with", async () => {
    const clock = new ManualClock(Date.now() - 24 * 3600_000);
    mkdirSync(path("kept"));
    const store = openLmdbStore({ dir: path("kept/store"), clock, retentionMs: 48 * 3600_000 });
    const first = await create(store, manyTexts[0]!, "old");
    await update(store, manyTexts[0]!, first, "new");
    // The clock stands a day behind that of the command: five minutes would drop everything.
    await clock.advance(60_000);
    await until(
      () => retentionOf(path("kept/store")),
      (ms) => ms === 48 * 3600_000,
    );
    await store.close();
    expect((await plinthHere("compact", `--data-dir=${path("kept")}`)).code).toBe(0);
    const after = openLmdbStore({ dir: path("kept/store"), clock, retentionMs: Infinity });
    expect(textOf(await after.get(manyTexts[0]!, first))).toBe("old");
    await after.close();
  });

  it("an opener with endless retention drops no history", async () => {
    const clock = new ManualClock();
    const store = openLmdbStore({ dir: path("endless"), clock, retentionMs: Infinity });
    const first = await create(store, manyTexts[0]!, "old");
    await update(store, manyTexts[0]!, first, "new");
    await clock.advance(24 * 3600_000);
    expect([textOf(await store.get(manyTexts[0]!, first)), await store.floor()]).toEqual(["old", 1]);
    await store.close();
  });
});
