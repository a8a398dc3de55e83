import { expect, test } from "vitest";
import { read } from "./source-files.ts";

const lines = read("CHANGELOG.md").split("\n");

test("the changelog has the sections of Keep a Changelog when an entry is added", () => {
  const headings = lines.filter((line) => line.startsWith("#"));
  expect(headings.slice(0, 2)).toEqual(["# Changelog", "## [Unreleased]"]);
  const form =
    /^## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$|^### (Added|Changed|Deprecated|Removed|Fixed|Security)$/;
  expect(headings.slice(2).filter((heading) => !form.test(heading))).toEqual([]);
});

test("a changelog entry has one line of at most 140 characters when it is added", () => {
  const entries = lines.slice(lines.indexOf("## [Unreleased]"));
  const wrong = entries.filter((line) => line.length > 140 || /^\s+\S/.test(line));
  expect(wrong).toEqual([]);
});
