import { expect, test } from "vitest";
import { phraseCeilings } from "./phrase-ceilings.ts";
import { filesBelow, read } from "./source-files.ts";

/** The source and the pages written by hand; `docs/requirements.md` repeats titles of tests, `docs/library.md` doc comments. */
const files = ["src", "docs"]
  .flatMap(filesBelow)
  .filter((file) => /\.(ts|md)$/.test(file) && !["docs/requirements.md", "docs/library.md"].includes(file))
  .concat(["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]);

/** Each file with its wrapped lines joined, so that a phrase is matched across a line break of a comment. */
const texts = files.map((file) => [file, joinLines(read(file))] as const);

function joinLines(text: string): string {
  return text.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, " ");
}

function countOf(phrase: string, text: string): number {
  return text.match(new RegExp(`\\b(?:${phrase})\\b`, "gi"))?.length ?? 0;
}

const counts = Object.fromEntries(
  Object.keys(phraseCeilings).map((phrase) => {
    const byFile = texts.map(([file, text]) => [file, countOf(phrase, text)] as const);
    return [phrase, byFile.filter(([, count]) => count > 0)] as const;
  }),
);

const total = (phrase: string) => counts[phrase]!.reduce((sum, [, count]) => sum + count, 0);

test("an avoided phrase does not occur more often than its ceiling; write it in plain terms instead", () => {
  const risen = Object.entries(phraseCeilings)
    .filter(([phrase, ceiling]) => total(phrase) > ceiling)
    .map(([phrase, ceiling]) => ({ phrase, ceiling, count: total(phrase), files: counts[phrase] }));
  expect(risen).toEqual([]);
});

test("the ceiling of a phrase equals its count; lower it in phrase-ceilings.ts when the count has sunk", () => {
  const sunk = Object.entries(phraseCeilings)
    .filter(([phrase, ceiling]) => total(phrase) < ceiling)
    .map(([phrase]) => `${JSON.stringify(phrase)}: ${total(phrase)},`);
  expect(sunk).toEqual([]);
});

test("a phrase is counted when a comment wraps in its middle", () => {
  const wrapped = "/**\n * Each is told\n * of it.\n */\n// So\n// many";
  expect(["is told of", "so many"].map((phrase) => countOf(phrase, joinLines(wrapped)))).toEqual([1, 1]);
});
