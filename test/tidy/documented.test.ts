import { expect, test } from "vitest";
import { reasons } from "../../src/base/status-error.ts";
import { productVersion } from "../../src/cli/product-version.ts";
import { serveFlags } from "../../src/cli/flags.ts";
import { read } from "./source-files.ts";

test("docs/flags.md documents every flag, with its default, and no other", () => {
  const documented = [...read("docs/flags.md").matchAll(/^\|\s+`--([a-z-]+)`\s+\| ([^|]*) \|/gm)];
  const rows = documented.map((match) => [match[1]!, match[2]!.trim().replaceAll("`", "")]);
  expect(rows).toEqual(
    serveFlags.map(({ name, default: byDefault }) => [name, byDefault === "" ? "—" : byDefault]),
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
