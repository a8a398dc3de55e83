import { expect, test } from "vitest";
import { addressOf, pages } from "../../site/pages.mjs";
import { base, builtFile, builtFiles, fileOf } from "./built-site.ts";

const files = builtFiles();
const htmlFiles = files.filter((file) => file.endsWith(".html"));

test("every page of the repository is built", () => {
  const built = pages.map(addressOf).map((address) => (address === "index" ? "" : `${address}/`));
  expect(built.filter((address) => fileOf(base + address) === undefined)).toEqual([]);
});

test("links and sources in the pages lead to built files, and their sections exist", () => {
  const ids = new Map(htmlFiles.map((file) => [file, new Set(attributesOf(builtFile(file), "id"))] as const));
  const wrong = htmlFiles.flatMap((page) =>
    attributesOf(builtFile(page), "href|src|srcset")
      .map((link) => new URL(link, `http://site${base}${page.replace(/index\.html$/, "")}`))
      .filter(({ host, pathname, hash }) => host === "site" && !exists(pathname, hash, ids))
      .map(({ pathname, hash }) => `${page}: ${pathname}${hash}`),
  );
  expect(wrong).toEqual([]);
});

test("the pages load nothing from another host, and have no scripts, styles or handlers inside", () => {
  const foreign = /<(?:script|img|link|iframe|source)\b[^>]*\s(?:src|href|srcset)="(?:https?:)?\/\/[^"]*"/g;
  const inside = /<(?:script(?![^>]*\ssrc=)|style)\b[^>]*>|<[a-z][^>]*\s(?:style|on[a-z]+)="[^"]*"/g;
  const canonical = /rel="(?:canonical|sitemap)"/;
  const found = htmlFiles.flatMap((file) => {
    const html = builtFile(file);
    return [...html.matchAll(foreign), ...html.matchAll(inside)]
      .map(([text]) => `${file}: ${text.slice(0, 200)}`)
      .filter((text) => !canonical.test(text));
  });
  expect(found).toEqual([]);
  const styles = files.filter((file) => file.endsWith(".css"));
  expect(styles.filter((file) => /url\(["']?(?:https?:|\/\/|data:)/.test(builtFile(file)))).toEqual([]);
});

test("llms.txt names the Markdown of every page, whose links lead to built files", () => {
  const sources = [...builtFile("llms.txt").matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!);
  expect(sources.filter((source) => fileOf(source) === undefined)).toEqual([]);
  expect(sources.length).toBeGreaterThanOrEqual(pages.length);
  const wrong = pages.flatMap((page) =>
    [...builtFile(`source/${page}`).matchAll(/(?<!!\[[^\]\n]*)\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)]
      .map(([, link]) => new URL(link!, `http://site${base}source/${page}`).pathname)
      .filter((pathname) => !files.some((file) => (base + file).startsWith(pathname)))
      .map((pathname) => `${page}: ${pathname}`),
  );
  expect(wrong).toEqual([]);
});

test("llms-full.txt fits into the context of a language model", () => {
  const text = builtFile("llms-full.txt");
  expect(text).toContain("# Run a server");
  expect(Buffer.byteLength(text)).toBeLessThan(500_000);
});

function exists(pathname: string, hash: string, ids: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const file = fileOf(decodeURIComponent(pathname));
  return (
    file !== undefined && (hash === "" || ids.get(file)?.has(decodeURIComponent(hash.slice(1))) === true)
  );
}

/** The values of attributes in tags. Text of a page has no tags: its angle brackets are escaped. */
function attributesOf(html: string, names: string): string[] {
  const attribute = new RegExp(`\\s(?:${names})="([^"]*)"`, "g");
  return [...html.matchAll(/<[a-z](?:[^>"]|"[^"]*")*>/g)].flatMap(([tag]) =>
    [...tag.matchAll(attribute)].map(([, value]) => value!.replaceAll("&amp;", "&").split(" ")[0]!),
  );
}
