import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { read, root } from "./source-files.ts";

const page = read("CONTRIBUTING.md");
const rows = [...page.matchAll(/^\| (`src\/.*)$/gm)].map(([, row]) => row!);

test("CONTRIBUTING.md: the table of tests has a row for each folder of src", () => {
  const folders = readdirSync(path.join(root, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}/`);
  expect(folders.filter((folder) => !rows.some((row) => row.startsWith(`\`${folder}\``)))).toEqual([]);
});

test("CONTRIBUTING.md: the table of tests names existing files and folders", () => {
  const paths = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
});
