import { expect, test } from "vitest";
import { filesBelow, read } from "./source-files.ts";

const pages = filesBelow("docs").filter((file) => file.endsWith(".md"));

/** Pages that a program writes as a whole, and what writes them. */
const generatedPages: Readonly<Record<string, string>> = {
  "docs/apply.md": "the rows of test/resources/apply/",
  "docs/clients.md": "npm run test:programs -- --update",
  "docs/default-roles.md": "npm run default-roles",
  "docs/enforcement.md": "the declarations of the kinds",
  "docs/library.md": "npm run reference",
  "docs/requirements.md": "npm run requirements",
};

/** Tables that equal a table of the source, by the heading of their section; a test compares each. */
const generatedTables: Readonly<Record<string, readonly string[]>> = {
  "docs/feature-gates.md": ["Feature gates"],
  "docs/flags.md": [
    "Options",
    "Deprecated and removed flags",
    "Accepted flags of the reference without effect",
  ],
};

/** Longer pages, and the reason why they are not split. */
const longPages: Readonly<Record<string, string>> = {};

const mostOfPage = 1500;
const mostInAll = 90_000;

/** Counts the words of a page that people write and read: not those of programs and their output, figures and generated tables. */
function wordsOf(page: string): number {
  const withoutPrograms = read(page).replaceAll(/^ *(`{3,})[^]*?^ *\1$/gm, "");
  const generated = generatedTables[page] ?? [];
  const written = withoutPrograms
    .split(/^(?=## )/m)
    .map((section) =>
      generated.some((heading) => section.startsWith(`## ${heading}\n`))
        ? section.replaceAll(/^\|.*$/gm, "")
        : section,
    );
  return written
    .join("")
    .split(/\s+/)
    .filter((word) => /\p{L}{2}/u.test(word)).length;
}

const written = pages.filter((page) => generatedPages[page] === undefined);
const counts = new Map(written.map((page) => [page, wordsOf(page)]));

test("a page has at most 1,500 words, or is listed with the reason; split it, or leave out what no reader needs", () => {
  const long = [...counts].filter(([page, count]) => count > mostOfPage && longPages[page] === undefined);
  expect(long).toEqual([]);
});

test("each listed page exists and is as long as the list says", () => {
  expect(Object.keys(longPages).filter((page) => (counts.get(page) ?? 0) <= mostOfPage)).toEqual([]);
  expect(Object.keys(generatedPages).filter((page) => !pages.includes(page))).toEqual([]);
  const missing = Object.entries(generatedTables).flatMap(([page, headings]) =>
    headings.filter((heading) => !read(page).includes(`\n## ${heading}\n`)),
  );
  expect(missing).toEqual([]);
});

test("all pages together have at most 90,000 words", () => {
  expect(written.length).toBeGreaterThan(80);
  const sum = [...counts.values()].reduce((all, count) => all + count, 0);
  expect(sum).toBeGreaterThan(40_000);
  expect(sum).toBeLessThanOrEqual(mostInAll);
});

test("a page with names of one vocabulary only says which, with a link to the vocabularies", () => {
  const oneSided = pages.filter((page) => {
    if (page.startsWith("docs/decisions/") || /^docs\/(?:library|requirements|vocabularies)\.md$/.test(page))
      return false;
    const text = read(page);
    const platform = /\bplatform\.io\b|\bplatform-(?:system|public)\b|vnd\.platform/.test(text);
    const kubernetes = /\b(?:k8s|kubernetes)\.io\b|\bkube-(?:system|public)\b|vnd\.kubernetes/.test(text);
    return platform !== kubernetes && !/\]\((?:\.\.\/|docs\/)?vocabularies\.md/.test(text);
  });
  expect(oneSided).toEqual([]);
});
