import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/process.ts";

test("require gives the same classes and the same server as import", () => {
  const program = path.join(root, "test/extensions/commonjs-program.cjs");
  // Later releases of Node 20 can require ES modules; the package must not depend on it.
  const flag = "--experimental-require-module";
  const without = process.allowedNodeEnvironmentFlags.has(flag) ? [flag.replace("--", "--no-")] : [];
  const words = [...without, program];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    same: [true, true, true],
    item: "tea",
    refused: "no maps",
    wrong: true,
    cases: true,
  });
});
