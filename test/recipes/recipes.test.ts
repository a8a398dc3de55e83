import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { blocksOf } from "../support/pages.ts";
import { filesBelow, root } from "../tidy/source-files.ts";
import { effort } from "../support/effort.ts";

/** What the copy of the project has: the product, and the files that tests of recipes import. */
const copied = [
  "src",
  "scripts/new",
  "docs/admission.md",
  "package.json",
  "tsconfig.json",
  "test/resources/engine.ts",
  "test/storage/support.ts",
  "test/support/api.ts",
  "test/support/use-server.ts",
  "test/kinds/declared-kinds.test.ts",
  "test/tidy/source-files.ts",
];

const copy = mkdtempSync(path.join(tmpdir(), "plinth-recipes-"));
for (const one of copied) cpSync(path.join(root, one), path.join(copy, one), { recursive: true });
symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"));
writeFileSync(
  path.join(copy, "tsconfig.recipes.json"),
  JSON.stringify({ extends: "./tsconfig.json", include: ["src", "test"] }),
);
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** A code block of a recipe: a new file, or lines to add to a file of the project. */
interface Block {
  readonly recipe: string;
  readonly language: string;
  readonly file: string;
  readonly text: string;
}

const blocks: readonly Block[] = blocksOf("docs/recipes/*.md", "* file=*").map(({ page, info, text }) => {
  const [language, file] = info.split(" file=");
  return { recipe: page, language: language!, file: file!, text };
});

/** Adds the lines behind `+` to a file, after each place of the line that stands before them. */
function addLines({ recipe, file, text }: Block): void {
  const [context = "", ...added] = text.trimEnd().split("\n");
  const at = path.join(copy, file);
  const before = readFileSync(at, "utf8").split("\n");
  const places = before.flatMap((line, index) => (line === context.slice(1) ? [index] : []));
  expect(places, `${recipe}: where ${file} has the line ${context}`).not.toEqual([]);
  for (const place of places.toReversed()) before.splice(place + 1, 0, ...added.map((line) => line.slice(1)));
  writeFileSync(at, before.join("\n"));
}

function write(block: Block): void {
  if (block.language === "diff") {
    addLines(block);
    return;
  }
  const at = path.join(copy, block.file);
  mkdirSync(path.dirname(at), { recursive: true });
  writeFileSync(at, block.text);
}

function run(...command: string[]): { readonly status: number | null; readonly output: string } {
  const outer = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
  const env = { ...Object.fromEntries(outer), NO_COLOR: "1", FORCE_COLOR: "0" };
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: copy,
    env,
    encoding: "utf8",
  });
  return { status, output: `${stdout}${stderr}` };
}

const recipes = filesBelow("docs/recipes");
for (const block of blocks) write(block);

/** The files of the scripts that create them for a new kind and a new plugin. */
const created = [
  run("scripts/new/kind.mjs", "resource", "PoolShare"),
  run("scripts/new/plugin.mjs", "RejectOnRequest"),
];

test("there are seven recipes, each with a test", () => {
  const tested = recipes.filter((recipe) =>
    blocks.some((block) => block.recipe === recipe && block.file.endsWith(".test.ts")),
  );
  expect(tested).toEqual(recipes);
  expect(recipes.map((recipe) => path.basename(recipe, ".md"))).toEqual([
    "admission-plugin",
    "authenticator",
    "field",
    "flag",
    "kind",
    "option",
    "storage-engine",
  ]);
});

test("npm run new:kind and new:plugin create their files", () => {
  expect(created.map(({ status, output }) => [status, output.split("\n").slice(0, 2)])).toEqual([
    [0, ["src/kinds/resource/pool-share.ts", "test/kinds/pool-share.test.ts"]],
    [0, ["src/admission/plugins/reject-on-request.ts", "test/admission/plugins/reject-on-request.test.ts"]],
  ]);
});

test.each([
  ["kind.mjs", "resource", "PoolShare", "src/kinds/resource/pool-share.ts exists already"],
  ["kind.mjs", "resource", "poolShare", "The name is in upper camel case"],
  ["kind.mjs", "nothing", "PoolShare", "The group is one of the folders admissionregistration, "],
  ["plugin.mjs", "RejectOnRequest", "", "src/admission/plugins/reject-on-request.ts exists already"],
  ["plugin.mjs", "", "", "usage: npm run new:plugin NAME"],
])("scripts/new/%s %s %s: %s", (script, first, second, message) => {
  const { status, output } = run(`scripts/new/${script}`, ...[first, second].filter((word) => word !== ""));
  expect([status, output]).toEqual([2, expect.stringContaining(message)]);
});

if (effort(false, true))
  test("the code blocks of the recipes and the created files compile", { timeout: 240_000 }, () => {
    const { status, output } = run(
      "node_modules/typescript/bin/tsc",
      "-p",
      "tsconfig.recipes.json",
      "--noEmit",
    );
    expect([status, output]).toEqual([0, ""]);
  });

if (effort(false, true))
  test("the tests of the recipes and of the created files pass", { timeout: 240_000 }, () => {
    const { status, output } = run("node_modules/vitest/vitest.mjs", "run", "--root", copy, "--reporter=dot");
    expect(status, output).toBe(0);
    expect(output).toMatch(/Test Files .*\b10 passed/);
  });
