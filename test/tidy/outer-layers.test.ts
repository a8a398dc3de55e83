import { expect, test } from "vitest";
import { circlesOf } from "./circles.ts";
import { filesBelow, importsOf } from "./source-files.ts";

/*
 * The rules of imports outside `src/`: the console is a program of its own in the browser, the measurements use the product and the
 * support of the tests, and `test/support` is below all folders of tests.
 */
const outer = ["bench", "console", "examples", "scripts", "test"].flatMap((folder) =>
  filesBelow(folder).filter((file) => /\.(?:ts|tsx|mjs)$/.test(file)),
);

/** The folders from which the files of a folder may import, as prefixes. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "bench/": ["bench/", "src/", "test/support/"],
  "console/": ["console/"],
  "examples/": ["examples/"],
  "test/support/": ["test/support/", "src/"],
};

test.each(Object.entries(allowed))("files of %s import only from %s", (folder, targets) => {
  const files = outer.filter((file) => file.startsWith(folder));
  expect(files.length).toBeGreaterThan(3);
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => !targets.some((prefix) => target.startsWith(prefix)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test("no file imports a test, which would run it twice", () => {
  const wrong = outer.flatMap((file) =>
    importsOf(file)
      .filter((target) => target.endsWith(".test.ts"))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test("no files outside src/ import each other in a circle", () => {
  expect(circlesOf(new Map(outer.map((file) => [file, importsOf(file)])))).toEqual([]);
});
