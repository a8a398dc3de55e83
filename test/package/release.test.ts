import { expect, test } from "vitest";
import { releaseFaults } from "../../scripts/release.mjs";

const ready = {
  version: "0.1.0",
  changelog: "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-12-01\n",
  status: "",
  tags: ["v0.0.9"],
};

test("a committed version with a dated heading in the changelog and no tag can be released", () => {
  expect(releaseFaults(ready)).toEqual([]);
});

test.each([
  ["changes that are not committed", { status: " M src/index.ts\n" }, "not committed:\n M src/index.ts"],
  ["a version that is not x.y.z", { version: "one" }, "version one is not x.y.z"],
  ["no heading in the changelog", { changelog: "## [Unreleased]\n" }, 'no heading "## [0.1.0] - YYYY-MM-DD"'],
  ["a heading without a date", { changelog: "## [0.1.0]\n" }, '"## [0.1.0]" has no date'],
  ["a tag of the same version", { tags: ["v0.1.0"] }, "the tag v0.1.0 exists"],
])("a release is refused for %s", (_, change, message) => {
  const [first] = releaseFaults({ ...ready, ...change });
  expect(first).toContain(message);
});
