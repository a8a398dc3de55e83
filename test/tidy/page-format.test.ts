import { expect, test } from "vitest";
import { knownLibrary } from "../../src/storage/lmdb/files.ts";
import { deferralObstacle } from "../../src/storage/lmdb/syncs/sync-point.ts";
import { read } from "./source-files.ts";

test("the library whose private page format is read has the version for which that was checked", () => {
  const { devDependencies, optionalDependencies } = JSON.parse(read("package.json")) as Readonly<
    Record<"devDependencies" | "optionalDependencies", Readonly<Record<string, string>>>
  >;
  const platforms = Object.entries(optionalDependencies).filter(([name]) => name.startsWith("@lmdb/"));
  expect(platforms.length).toBeGreaterThan(5);
  const versions = new Set([devDependencies["lmdb"], ...platforms.map(([, version]) => version)]);
  // Another version needs a comparison of its page header, meta page and tree description, see knownLibrary.
  expect([...versions]).toEqual([knownLibrary.package]);
});

test("syncs aren't deferred with a library whose page format is unknown", () => {
  expect(deferralObstacle()).toBeUndefined();
  expect(deferralObstacle("LMDB 0.9.91: (May 1, 2027)")).toMatch(
    /only with LMDB 0\.9\.90.*not with LMDB 0\.9\.91.*install version 3\.5\.6 of .*or leave out --durability/,
  );
});
