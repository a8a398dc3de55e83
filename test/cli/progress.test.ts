import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { showingProgress } from "../../src/cli/terminal/progress.ts";
import { create } from "../../src/storage/conformance/support.ts";
import { backupLmdb } from "../../src/storage/lmdb/backup/backup.ts";
import { restoreLmdb } from "../../src/storage/lmdb/backup/restore.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { type Progress, whileGrowing } from "../../src/storage/lmdb/progress.ts";
import { shrinkLmdb } from "../../src/storage/lmdb/shrink.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

/** Runs work that reports at the times in milliseconds, and returns what is written. */
async function written(times: readonly number[], isTTY: boolean): Promise<string[]> {
  const texts: string[] = [];
  let now = 0;
  const work = async (progress: Progress) => {
    for (const time of times) {
      now = time;
      progress("copying", time / 20_000);
    }
  };
  await showingProgress(work, { isTTY, write: (text) => texts.push(text) }, () => now);
  return texts;
}

describe("the progress of a command", () => {
  it("is not shown in the first second", async () => {
    expect(await written([0, 500, 999], true)).toEqual([]);
  });

  it("is one line on a terminal, at most ten times a second, and is erased at the end", async () => {
    const erase = "\r\u001b[2K";
    expect(await written([0, 1000, 1050, 1099, 1100, 20_000], true)).toEqual([
      `${erase}copying: 5 %`,
      `${erase}copying: 5 %`,
      `${erase}copying: 100 %`,
      erase,
    ]);
  });

  it("is a line every ten seconds in a file", async () => {
    expect(await written([0, 1000, 9999, 10_000, 19_999, 20_000], false)).toEqual([
      "copying: 50 %\n",
      "copying: 100 %\n",
    ]);
  });

  it("doesn't hide the error of the work", async () => {
    const failure = new Error("failed");
    await expect(showingProgress(() => Promise.reject(failure))).rejects.toBe(failure);
  });
});

describe("operations on a data folder", () => {
  const folder = useTemporaryFolders();

  it("report every step, with shares that grow from 0 to 1", async () => {
    const [live, backup] = [path.join(folder(), "live"), path.join(folder(), "backup")];
    const store = openLmdbStore({ dir: live, clock: systemClock });
    await Promise.all(
      Array.from({ length: 3000 }, (_, index) => create(store, `/g/r/n/${index}`, "x".repeat(3000))),
    );
    const steps = async (work: (progress: Progress) => Promise<unknown>) => {
      const shares = new Map<string, number[]>();
      await work((step, share) => shares.set(step, [...(shares.get(step) ?? []), share]));
      for (const all of shares.values()) {
        expect(all).toEqual(all.toSorted((a, b) => a - b));
        expect(Math.max(...all)).toBeLessThanOrEqual(1);
      }
      return shares;
    };
    const checked = await steps((progress) => store.check(progress));
    expect([...checked.keys()]).toEqual(["checking pages", "checking values"]);
    expect(checked.get("checking values")!.at(-1)).toBeGreaterThan(0.9);
    await store.close();
    // The copy of so few bytes may end before its size is first read.
    const stepsAfterCopy = (shares: ReadonlyMap<string, unknown>) =>
      [...shares.keys()].filter((step) => step !== "copying");
    const read = ["computing the checksum", "checking pages", "checking values"];
    const backedUp = await steps((progress) => backupLmdb(live, backup, { progress }));
    expect(stepsAfterCopy(backedUp)).toEqual(read);
    expect(backedUp.get("computing the checksum")!.at(-1)).toBe(1);
    const restored = path.join(folder(), "restored");
    expect(stepsAfterCopy(await steps((progress) => restoreLmdb(backup, restored, { progress })))).toEqual(
      read,
    );
    const shrunk = await steps((progress) => shrinkLmdb(live, systemClock.now() + 1000, progress));
    expect([...shrunk.keys()]).toEqual([
      "checking pages",
      "dropping history",
      "copying entries",
      "checking values",
    ]);
    expect(shrunk.get("copying entries")!.at(-1)).toBe(1);
  });

  it("report the size of a file while it grows, also before it exists", async () => {
    const file = { path: path.join(folder(), "growing"), bytes: 400 };
    const shares: number[] = [];
    await whileGrowing(
      file,
      "copying",
      (_step, share) => shares.push(share),
      async () => {
        await expect.poll(() => shares.length).toBeGreaterThan(0);
        writeFileSync(file.path, "x".repeat(100));
        await expect.poll(() => shares.at(-1)).toBe(0.25);
      },
    );
    expect(shares[0]).toBe(0);
  });
});
