import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { messageProblem } from "../../scripts/check-commits.mjs";
import { root } from "./source-files.ts";

test.each([
  "store: refuse writes on a full disk",
  "http, json: locate invalid UTF-8 in one pass\n\nThe second pass took 30 ms for bodies of 3 MB.",
  "test/api: bring the list up to date",
  `area: write ${"x".repeat(60)}`,
])("the commit rule accepts a message when it has the form: %j", (message) => {
  expect(messageProblem(message)).toBeUndefined();
});

test.each([
  ["an area is missing", "Refuse writes on a full disk", "the form"],
  ["nothing follows the verb", "store: refuse", "the form"],
  ["the verb is capitalized", "store: Refuse writes", "lower case"],
  ["the verb is in the past", "store: refused writes on a full disk", "imperative"],
  ["the verb is a participle", "store: refusing writes on a full disk", "imperative"],
  ["it begins with an article", "store: the writes are refused", "imperative"],
  ["it has 73 characters", `area: write ${"x".repeat(61)}`, "73 characters"],
  ["it ends with a period", "store: refuse writes.", "period"],
  ["no empty line follows", "store: refuse writes\nbecause", "not empty"],
])("the commit rule rejects a title when %s", (_, message, problem) => {
  expect(messageProblem(message)).toContain(problem);
});

test("the check passes and says so when there is no git history", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-commits-"));
  try {
    const script = path.join(folder, "check-commits.mjs");
    copyFileSync(path.join(root, "scripts/check-commits.mjs"), script);
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: path.dirname(folder) };
    const { status, stdout } = spawnSync(process.execPath, [script], { cwd: folder, env, encoding: "utf8" });
    expect([status, stdout]).toEqual([0, expect.stringContaining("commit titles not checked")]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
