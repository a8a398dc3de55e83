import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));

/** Returns the files with declarations that the package names. */
function entriesIn(value: unknown): string[] {
  if (typeof value === "string") return /\.d\.c?ts$/.test(value) ? [path.join(root, value)] : [];
  return Object.values(value as object).flatMap(entriesIn);
}

/** Returns the packages that declarations import, with one of the files that does. */
function packagesOf(entries: readonly string[]): Map<string, string> {
  const files = new Set(entries);
  const packages = new Map<string, string>();
  for (const file of files)
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"([^"]+)"/g))
      if (name.startsWith("."))
        files.add(path.join(path.dirname(file), name.replace(/\.(c?)[jt]s$/, ".d.$1ts")));
      else packages.set(name, path.relative(root, file));
  return packages;
}

test("the declarations of the package import nothing that isn't installed with it", () => {
  const entries = entriesIn(manifest.exports);
  expect(entries.length).toBeGreaterThan(4);
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const missing = [...packagesOf(entries)].filter(
    ([name]) =>
      !name.startsWith("node:") && !installed.some((one) => name === one || name.startsWith(`${one}/`)),
  );
  expect(missing).toEqual([]);
});
