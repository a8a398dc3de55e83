import { expect, test } from "vitest";
import { reasons } from "../../src/base/status-error.ts";
import { acceptedFlags } from "../../src/cli/flags/accepted-flags.ts";
import { flagLifeCycles } from "../../src/cli/flags/flag-life-cycles.ts";
import { productVersion } from "../../src/cli/product-version.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { read } from "./source-files.ts";

const deprecatedHeading = "## Deprecated and removed flags";
const acceptedHeading = "## Accepted flags of the reference without effect";

test("docs/flags.md documents every flag, with its default, and no other", () => {
  const [text = ""] = read("docs/flags.md").split(deprecatedHeading);
  const documented = [...text.matchAll(/^\|\s+`--([a-z-]+)`\s+\| ([^|]*) \|/gm)];
  const rows = documented.map((match) => [match[1]!, match[2]!.trim().replaceAll("`", "")]);
  expect(rows).toEqual(
    serveFlags.map(({ name, default: byDefault }) => [name, byDefault === "" ? "—" : byDefault]),
  );
});

test("docs/flags.md documents every flag that changes nothing, as the program knows it, and no other", () => {
  const [section = ""] = read("docs/flags.md").split(acceptedHeading)[1]!.split("\n## ");
  const rows = [...section.matchAll(/^\|\s+`--(.*)\|$/gm)].map((match) =>
    match[1]!
      .replaceAll("`", "")
      .split("|")
      .map((cell) => cell.trim()),
  );
  expect(rows).toEqual(
    acceptedFlags.map(({ name, type, here, refused, doc }) => {
      return [name, type, here ?? "—", refused ? "refused" : "no effect, and the log says so", doc];
    }),
  );
});

test("docs/flags.md documents the life of every flag that is deprecated or removed, and no other", () => {
  const [section = ""] = read("docs/flags.md").split(deprecatedHeading)[1]!.split("\n## ");
  const rows = [...section.matchAll(/^\|\s+`--(.*)\|$/gm)].map((match) =>
    match[1]!
      .replace("`", "")
      .split("|")
      .map((cell) => cell.trim()),
  );
  expect(rows).toEqual(
    flagLifeCycles.map(({ name, deprecated, removed = "—", instead }) => [
      name,
      deprecated,
      removed,
      instead,
    ]),
  );
});

test("docs/errors.md documents every error reason, with its code, and no other", () => {
  const documented = [...read("docs/errors.md").matchAll(/^\|\s+(\d{3})\s+\|\s+`([A-Za-z]+)`\s+\|/gm)];
  const rows = documented.map((match) => [match[2]!, Number(match[1])]);
  expect(rows).toEqual(Object.entries(reasons).map(([name, { code }]) => [name, code]));
});

test("the program reports the package's version", () => {
  expect(productVersion).toBe((JSON.parse(read("package.json")) as { version: string }).version);
});
