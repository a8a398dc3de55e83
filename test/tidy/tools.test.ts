import { expect, test } from "vitest";
import { filesBelow, read } from "./source-files.ts";

interface Package {
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}
const packageOf = (file: string) => JSON.parse(read(file)) as Package;
const { scripts = {}, devDependencies: ofBuild } = packageOf("package.json");
const tools = Object.keys(packageOf("tools/package.json").devDependencies);

const codeIn = (...folders: readonly string[]) =>
  folders
    .flatMap((folder) => filesBelow(folder))
    .filter((file) => /\.(?:ts|tsx|mjs|cjs|json)$/.test(file) && file !== "tools/package.json");

/** Whether a text imports a package, or has its name in quotation marks. */
const names = (text: string, dependency: string) => new RegExp(`["'\`]${dependency}["'\`/]`).test(text);

test("the build and the product import no package of tools/package.json, which `npm start` doesn't install", () => {
  const found = codeIn("src", "console", "scripts/build").flatMap((file) => {
    const text = read(file);
    return tools.filter((tool) => names(text, tool)).map((tool) => [file, tool]);
  });
  expect(found).toEqual([]);
});

test("every package of tools/package.json is imported, or run by a script or a test", () => {
  const commands = [...Object.values(scripts), ...codeIn("test/package").map(read)].join("\n");
  const texts = codeIn("test", "bench", "scripts", "examples").map(read);
  /** Commands whose packages have another name, and a package that another one loads. */
  const commandOf: Readonly<Record<string, string>> = {
    "@arethetypeswrong/cli": "attw",
    "oxlint-tsgolint": "oxlint --type-aware",
  };
  const unused = tools.filter((tool) => {
    const isRun = new RegExp(`\\b${commandOf[tool] ?? tool}\\b`).test(commands);
    return !isRun && !texts.some((text) => names(text, tool));
  });
  expect(unused).toEqual([]);
});

test("no package is in both package.json and tools/package.json", () => {
  expect(tools.filter((tool) => tool in ofBuild)).toEqual([]);
});

test("every script that runs a tool installs the tools first", () => {
  const commands = ["vitest", "tsx", "oxlint", "knip", "prettier", "tsc"];
  const runs = Object.entries(scripts).filter(
    ([name, script]) =>
      !name.startsWith("lint:") && commands.some((one) => new RegExp(`(?:^|&& )${one} `).test(script)),
  );
  expect(runs.length).toBeGreaterThan(10);
  const without = runs.filter(([, script]) => !script.startsWith("node scripts/ensure.mjs --tools"));
  expect(without).toEqual([]);
});
