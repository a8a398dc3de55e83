import { expect, test } from "vitest";
import { referenceBehavior, specifiedBehavior } from "../../src/vocabulary/behavior.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import {
  apiGroup,
  baseOfGroup,
  groupAnnotation,
  groupVersion,
  isInDomain,
  labelKey,
  subdomain,
  tokenFolder,
} from "../../src/vocabulary/names.ts";
import { read, sources } from "./source-files.ts";

/** Where code asks which vocabulary it has: a choice by the user, or a conversion between both. */
const selectors = [
  // Writes the objects of manifests in the names of the other vocabulary.
  "src/cli/convert/convert.ts",
  // The flag.
  "src/cli/serve/serve-options.ts",
  // The option of `definitionOf`.
  "src/kinds/definition-of.ts",
  // The option of the library.
  "src/server/options/library-options.ts",
];

test("code outside of src/vocabulary doesn't ask which vocabulary it has, but by the members of its behavior", () => {
  const comparison =
    /(===|!==|case)\s*"(platform|kubernetes)"|"(platform|kubernetes)"\s*(===|!==)|ocabulary\s*[!=]==\s*(platform|kubernetes)\b|\.name\s*[!=]==\s*\w*[vV]ocabulary\.name/;
  const comparing = sources
    .filter((file) => !file.startsWith("src/vocabulary/"))
    .filter((file) => comparison.test(read(file)));
  expect(comparing).toEqual(selectors);
});

test("both vocabularies decide every difference, and docs/vocabularies.md documents it, and no other", () => {
  const rows = [...read("docs/vocabularies.md").matchAll(/^\|.*\| `(\w+)`\s*\|$/gm)].map((row) => row[1]);
  expect(rows).toEqual(Object.keys(specifiedBehavior));
  expect(Object.keys(referenceBehavior)).toEqual(rows);
});

test("every member of the behavior is read by code outside of src/vocabulary", () => {
  const readers = (member: string) =>
    sources.filter(
      (file) => !file.startsWith("src/vocabulary/") && new RegExp(`\\b${member}\\b`).test(read(file)),
    );
  expect(Object.keys(specifiedBehavior).filter((member) => readers(member).length === 0)).toEqual([]);
});

test("names of groups and of labels can't be confused: the types of their domains differ", () => {
  const { domain, groupSuffix } = kubernetes;
  expect(apiGroup(groupSuffix, "storage")).toBe("storage.k8s.io");
  expect(labelKey(domain, "zone", "topology")).toBe("topology.kubernetes.io/zone");
  expect(groupAnnotation(groupSuffix, "decision", "authorization")).toBe("authorization.k8s.io/decision");
  // @ts-expect-error a domain of labels is no suffix of groups
  apiGroup(domain, "storage");
  // @ts-expect-error a suffix of groups is no domain of labels
  labelKey(groupSuffix, "zone");
});

test("names of groups, keys and domains are built in src/vocabulary only", () => {
  const part = /(?:[\w!?]+\.)*(?:domain|groupSuffix)/.source;
  const building = new RegExp(
    `\\$\\{${part}\\}|"[^"\\n]*[./]"\\s*\\+\\s*${part}\\b|\\b${part}\\s*\\+\\s*["\`]|endsWith\\(${part}\\)`,
  );
  expect(building.test("`${vocabulary.domain}/name`")).toBe(true);
  expect(building.test('"apps." + groupSuffix')).toBe(true);
  expect(building.test("labelKey(vocabulary.domain, `${name}`)")).toBe(false);
  const files = sources.filter((file) => !file.startsWith("src/vocabulary/") && building.test(read(file)));
  expect(files).toEqual([]);
});

test("the builders of names build them from their parts", () => {
  const { domain, groupSuffix } = kubernetes;
  expect(groupVersion(groupSuffix, "meta", "v1")).toBe("meta.k8s.io/v1");
  expect(subdomain(domain, "node")).toBe("node.kubernetes.io");
  expect(tokenFolder(domain)).toBe("/var/run/secrets/kubernetes.io/serviceaccount");
  expect(
    ["kubernetes.io", "a.kubernetes.io", "akubernetes.io"].map((name) => isInDomain(domain, name)),
  ).toEqual([true, true, false]);
  expect(["apps.k8s.io", "apps"].map((name) => baseOfGroup(groupSuffix, name))).toEqual(["apps", "apps"]);
});
