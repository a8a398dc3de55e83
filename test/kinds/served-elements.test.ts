import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { resolveString } from "../../src/schema/check.ts";
import { groupName } from "../../src/schema/kind.ts";
import type { Field, StructType } from "../../src/schema/types.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { expressionOf, structsOf } from "./type-expressions.ts";

/** The elements that the last release served, one struct per line; `--update` adds new ones. */
const file = path.join(import.meta.dirname, "served-elements.txt");

/** `group/version Struct: element; element; …` */
type Line = string;

/** Returns type, default and constants of a field, on which clients rely. */
function elementOf(name: string, { type, facts }: Field): readonly string[] {
  const value = facts.default === undefined ? "" : `=${JSON.stringify(facts.default)}`;
  const constants = [...(facts.oneOf ?? []), ...(facts.knownValues ?? [])].map((word) =>
    resolveString(word, platform),
  );
  return [
    `${name} ${expressionOf(type)}${value}`,
    ...constants.toSorted().map((constant) => `${name} ${JSON.stringify(constant)}`),
  ];
}

function lineOf(owner: string, elements: readonly string[]): Line {
  return `${owner}: ${elements.toSorted().join("; ")}`;
}

function structLine(type: StructType): Line {
  const { group, version } = type.groupVersion;
  const fields = Object.entries(type.fields).flatMap(([name, field]) => elementOf(name, field));
  return lineOf(`${groupName(group, platform)}/${version} ${type.name}`, fields);
}

function servedLines(): readonly Line[] {
  const kinds = builtInKinds.filter(({ version }) => !version.includes("alpha"));
  const resources = kinds.map(({ group, version, resource, verbs, subresources }) =>
    lineOf(`${groupName(group, platform)}/${version} resource ${resource}`, [
      ...verbs,
      ...Object.entries(subresources).map(([name, one]) => `${name} ${one.verbs.join(",")}`),
    ]),
  );
  const structs = new Set(kinds.flatMap(({ type }) => [...structsOf(type)]));
  return [...new Set([...resources, ...[...structs].map(structLine)])].toSorted();
}

/** Returns the elements of each owner. */
function parsed(lines: readonly Line[]): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    lines.map((line) => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), new Set(line.slice(at + 2).split("; "))];
    }),
  );
}

test("C-9.2-01 no resource, verb, field, type, default or constant of a served version is removed", () => {
  const before = parsed(existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : []);
  const now = parsed(servedLines());
  const gone = [...before].flatMap(([owner, elements]) =>
    [...elements].filter((one) => now.get(owner)?.has(one) !== true).map((one) => `${owner}: ${one}`),
  );
  expect(gone).toEqual([]);
});

test("served-elements.txt lists every served element", async () => {
  await expect(`${servedLines().join("\n")}\n`).toMatchFileSnapshot(file);
});
