import { expect, test } from "vitest";
import {
  addressOf,
  filesOf,
  linkedFiles,
  pages,
  resolveLink,
  summaryOf,
  titleOf,
} from "../../site/pages.mjs";
import { sections } from "../../site/navigation.mjs";
import { filesBelow, read } from "./source-files.ts";

const ownPages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];

test("the site has every page of docs/ exactly once; a new page needs an entry in site/navigation.mjs", () => {
  const expected = [...filesBelow("docs").filter((file) => file.endsWith(".md")), ...ownPages];
  expect(pages.filter((page) => !page.startsWith("examples/")).toSorted()).toEqual(expected.toSorted());
});

test("the first page is the README, and the sections follow the headings of the page of all pages, with the pages under them", () => {
  expect([pages[0], addressOf("README.md")]).toEqual(["README.md", "index"]);
  const parts = read("docs/README.md").split(/^## /m).slice(1);
  const listed = parts.map((part) =>
    [...part.matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, file]) => `docs/${file!}`),
  );
  expect(sections.length).toBe(listed.length);
  const missing = listed.flatMap((files, index) => {
    const others = new Set(listed.slice(0, index).flat());
    const own = JSON.stringify(sections[index]!.entries);
    return files.filter((file) => !others.has(file) && !own.includes(`"${file}"`));
  });
  expect(missing).toEqual([]);
});

test("each page and each linked file has an address of its own on the site", () => {
  const addresses = [...pages, ...linkedFiles().flatMap(filesOf)].map(addressOf);
  expect(new Set(addresses).size).toBe(addresses.length);
  expect(addresses.filter((address) => !/^[a-z0-9./_-]+$/.test(address))).toEqual([]);
});

test("a page begins with its title, which no other page has, and a sentence", () => {
  const wrong = pages.filter(
    (page) => !/^(<!--[^]*?-->\n+)?# /.test(read(page)) || summaryOf(page).length < 5,
  );
  expect(wrong).toEqual([]);
  const titles = pages.map(titleOf);
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});

test("a Markdown page that a page links to is a page of the site as well", () => {
  expect(linkedFiles().filter((file) => file.endsWith(".md"))).toEqual([]);
  expect(linkedFiles().flatMap(filesOf)).toContain("examples/pytest/conftest.py");
});

test("a link has the address of its target on the site, with its section", () => {
  const addressFrom = (link: string) => resolveLink("docs/runbooks/PlinthBackupOld.md", link, "/base/");
  expect(addressFrom("../recovery.md#restore")).toBe("/base/recovery/#restore");
  expect(addressFrom("../README.md")).toBe("/base/pages/");
  expect(addressFrom("../../README.md")).toBe("/base/");
  expect(addressFrom("../runbooks/")).toBe("/base/runbooks/");
  expect(addressFrom("../../LICENSE")).toBe("/base/files/license/");
  expect(["#meaning", "https://example.org/a"].map(addressFrom)).toEqual([undefined, undefined]);
  expect(() => addressFrom("missing.md")).toThrow(
    "docs/runbooks/PlinthBackupOld.md: the link missing.md leads to no file",
  );
});

test("the site pins its dependencies, and the installation of the server has no generator", () => {
  const { dependencies } = JSON.parse(read("site/package.json")) as { dependencies: Record<string, string> };
  expect(Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  expect(read("package-lock.json")).not.toContain('"node_modules/astro"');
});
