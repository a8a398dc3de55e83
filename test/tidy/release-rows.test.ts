import { expect, test } from "vitest";
import { read, sources } from "./source-files.ts";

/** A comparison with a release that is written in place: `isLater("1.30", release)`, `release === "1.30"`. */
const inPlace = /\bisLater\((?:"1\.|\w+, "1\.)|[!=]== "1\.\d\d"/;

const filesWith = (pattern: RegExp) => sources.filter((file) => pattern.test(read(file)));

/** The files that may compare a release with another one; add a row elsewhere. */
const comparing = ["src/base/release-rows.ts"];

test("releases are compared in one file; others declare rows", () => {
  expect(inPlace.test('if (isLater("1.30", release)) return;')).toBe(true);
  expect(filesWith(/\bisAtLeast\(/)).toEqual(comparing);
  expect(filesWith(inPlace)).toEqual([]);
});

test("kinds have no members for later releases only", () => {
  expect(filesWith(/\blater(?:Columns|Generation|Status|Subresources):/)).toEqual([]);
});
