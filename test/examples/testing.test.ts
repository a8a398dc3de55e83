import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/process.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";
import { effort } from "../support/effort.ts";

const folder = useTemporaryFolders();

/** Copies the examples into a folder that has the package and Vitest. */
function copyOfExamples(): string {
  const home = folder();
  cpSync(path.join(root, "examples/testing"), home, { recursive: true });
  writeFileSync(path.join(home, "package.json"), '{ "private": true, "type": "module" }\n');
  mkdirSync(path.join(home, "node_modules"));
  symlinkSync(root, path.join(home, "node_modules/plinth"));
  symlinkSync(path.join(root, "node_modules/vitest"), path.join(home, "node_modules/vitest"));
  return home;
}

function run(home: string, ...words: readonly string[]) {
  // Otherwise the inner runner takes itself for a worker of this one.
  const { VITEST: _vitest, NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: home, env, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

describe("the examples of tests", () => {
  if (effort(false, true))
    it("pass with Vitest", () => {
      const home = copyOfExamples();
      const { status, output } = run(home, "node_modules/vitest/vitest.mjs", "run", "--dir=vitest");
      expect(status, output).toBe(0);
    });

  it("pass with the test runner of Node", () => {
    const { status, output } = run(copyOfExamples(), "--test", "node-test/");
    expect(status, output).toBe(0);
    expect(output).toMatch(/pass 3\b/);
  });

  if (effort(false, true))
    it("fail when the operator doesn't react to changes of pages", () => {
      const home = copyOfExamples();
      const operator = path.join(home, "operator.mjs");
      const broken = readFileSync(operator, "utf8").replace("return owner && {", "return undefined && {");
      expect(broken).not.toBe(readFileSync(operator, "utf8"));
      writeFileSync(operator, broken);
      const { status, output } = run(
        home,
        "node_modules/vitest/vitest.mjs",
        "run",
        "--dir=vitest",
        "operator",
      );
      expect(status).toBe(1);
      expect(output).toContain("writes a page again that somebody deleted");
    });
});
