import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { longTests, longTestsOf } from "../../scripts/long-tests.mjs";
import { root } from "../support/root.ts";
import { filesBelow, read } from "./source-files.ts";

const testFiles = filesBelow("test").filter((file) => file.endsWith(".test.ts"));
/** Files whose effort is decided by a module that they share. */
const sharedEffort = new Map([
  ["test/lives/", "test/lives/suite.ts"],
  ["test/admission/pod-security/verdicts", "test/admission/pod-security/verdict-pods.ts"],
]);
const isLong = (file: string) => {
  const [, decides = file] = Array.from(sharedEffort).find(([folder]) => file.startsWith(folder)) ?? [];
  return /\.(long|chromium)\.test\.ts$/.test(file) || /\beffort\(/.test(read(decides));
};
const filters = longTests.flatMap(({ tests }) => tests);

test("each long test has a row that says which changes run it", () => {
  const longFiles = testFiles.filter((file) => isLong(file) && !file.startsWith("test/site/"));
  expect(longFiles.length).toBeGreaterThan(10);
  expect(longFiles.filter((file) => !filters.some((filter) => file.startsWith(filter)))).toEqual([]);
});

test("each row names files that exist, long tests, and what remains of them in npm test", () => {
  for (const { tests, touchedBy, short } of longTests) {
    for (const place of touchedBy) expect(existsSync(path.join(root, place)), place).toBe(true);
    for (const filter of tests)
      expect(
        testFiles.some((file) => file.startsWith(filter) && isLong(file)),
        filter,
      ).toBe(true);
    expect(short).not.toBe("");
  }
});

test("a change runs the long tests of its rows, each once, and others none", () => {
  expect(longTestsOf(["CHANGELOG.md"])).toEqual([]);
  expect(longTestsOf(["console/index.ts"])).toEqual(["test/console/", "test/attacks/proxied-pages"]);
  const ofStore = longTestsOf(["src/storage/feed.ts", "src/storage/lmdb/writer.ts"]);
  expect(ofStore).toContain("test/kills/");
  expect(ofStore).toHaveLength(new Set(ofStore).size);
});
