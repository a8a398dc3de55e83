import { expect, test } from "vitest";
import { referenceText } from "../../scripts/reference.mjs";
import { read } from "./source-files.ts";

test("docs/library.md is the reference of the package; `npm run reference` brings it up to date", async () => {
  const text = await referenceText();
  const committed = read("docs/library.md");
  // One line at a time: a difference of long texts is slow to show.
  const lines = new Set(committed.split("\n"));
  expect(text.split("\n").filter((line) => !lines.has(line))).toEqual([]);
  expect(text).toBe(committed);
}, 60_000);

test("docs/library.md is small enough to be a part of the package", () => {
  const text = read("docs/library.md");
  expect(Buffer.byteLength(text)).toBeLessThan(136 * 1024);
  expect(text.split("\n").length).toBeLessThan(2600);
});
