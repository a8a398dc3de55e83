import { expect, test } from "vitest";
import { read, sources } from "./source-files.ts";

/** A comparison of a kind with an imported declaration: `kind === Pod`. */
const comparison = /\bkind\)? (?:===|!==) (?<constant>[A-Z]\w*)\b(?!\.)/g;

/** The comparisons of a text that a copy of the kind, with the fields of a release, would not pass. */
function wrongComparisons(text: string): string[] {
  const lines = text.split("\n");
  return lines.filter(
    (line) => [...line.matchAll(comparison)].length > 0 && !line.includes("declarationOf("),
  );
}

test("kinds are compared with declarations by declarationOf", () => {
  expect(wrongComparisons("if (resource.stored.kind === Pod) return;")).toHaveLength(1);
  const wrong = sources.flatMap((file) => {
    const text = read(file);
    const isDeclaration = text.includes("kind = declarationOf(");
    return isDeclaration ? [] : wrongComparisons(text).map((line) => `${file}: ${line.trim()}`);
  });
  expect(wrong).toEqual([]);
});
