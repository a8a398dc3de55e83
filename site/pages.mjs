// The pages of the site and the addresses that their links lead to. Uses only Node, so that a test of the main suite can import it.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { home, index, sections } from "./navigation.mjs";

/** The root folder of the repository. */
export const root = path.resolve(import.meta.dirname, "..");

/** @param {string} file */
const read = (file) => readFileSync(path.join(root, file), "utf8");

/**
 * The pages of a folder in the order of their names.
 * @param {string} folder
 */
export const pagesIn = (folder) =>
  readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => `${folder}/${name}`);

/** @param {import("./navigation.mjs").Entry} entry */
export function pagesOf(entry) {
  if (typeof entry === "string") return [entry];
  return "page" in entry ? [entry.page] : pagesIn(entry.folder);
}

/** The folders that have a generated page. */
export const folders = sections
  .flatMap(({ entries }) => entries)
  .filter((entry) => typeof entry === "object" && "folder" in entry);

/** Every page in the order of the sidebar; as paths from the root, like all names of files here. */
export const pages = [home, ...sections.flatMap(({ entries }) => entries.flatMap(pagesOf))];

/**
 * The address of a page, folder or linked file below the base of the site, without slashes at its ends.
 * @param {string} file
 */
export function addressOf(file) {
  if (file === home) return "index";
  if (file === index) return "pages";
  const isPage = pages.includes(file) || folders.some(({ folder }) => folder === file);
  if (!isPage) return `files/${file}`.toLowerCase();
  return file
    .replace(/^docs\//, "")
    .replace(/(\/README)?\.md$/, "")
    .toLowerCase();
}

/**
 * The title of a page: its first heading, without marks of code.
 * @param {string} file
 */
export function titleOf(file) {
  const title = /^# (.+)$/m.exec(read(file))?.[1];
  if (title === undefined) throw new Error(`${file} has no title: a line that begins with "# "`);
  return title.replaceAll("`", "");
}

/**
 * The first sentence below the title of a page.
 * @param {string} file
 */
export function summaryOf(file) {
  const paragraphs = read(file)
    .replaceAll(/<!--[^]*?-->/g, "")
    .split(/\n{2,}/)
    .map((text) => text.trim());
  const title = paragraphs.findIndex((text) => text.startsWith("# "));
  const first = paragraphs.slice(title + 1).find((text) => /^[\p{L}`*[]/u.test(text)) ?? "";
  const plain = first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/\s+/g, " ");
  return /^.*?[.:!?](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}

/**
 * The file that a link of a page leads to, or undefined if it leaves the repository or stays in the page.
 * @param {string} page
 * @param {string} link
 */
export function targetOf(page, link) {
  const [name] = link.split("#");
  if (name === "" || /^[a-z][a-z0-9+.-]*:|^\//i.test(link)) return undefined;
  return path.posix.join(path.posix.dirname(page), name).replace(/\/$/, "");
}

/**
 * The address of a link with its section, or undefined if it is to be left as it is. Throws if it leads nowhere.
 * @param {string} page
 * @param {string} link
 * @param {string} base
 */
export function resolveLink(page, link, base) {
  const target = targetOf(page, link);
  if (target === undefined) return undefined;
  if (!existsSync(path.join(root, target)))
    throw new Error(`${page}: the link ${link} leads to no file of the repository`);
  const address = addressOf(target);
  return `${base}${address === "index" ? "" : `${address}/`}${sectionOf(link, target)}`;
}

/** The section of a link with its number sign. The title of a page is no section: it is the top of the page. */
function sectionOf(link, target) {
  const [, section] = link.split("#");
  if (section === undefined) return "";
  const title = pages.includes(target) ? titleOf(target) : "";
  const anchor = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
  return section === anchor ? "" : `#${section}`;
}

/** The files other than pages and pictures that pages link to. A linked folder stands for its files. */
export function linkedFiles() {
  const found = new Set();
  for (const page of pages)
    for (const [, link] of read(page).matchAll(/(?<!!\[[^\]\n]*)\]\(([^)\s]+)\)/g)) {
      const target = targetOf(page, link);
      if (target !== undefined && addressOf(target).startsWith("files/")) found.add(target);
    }
  return [...found].toSorted();
}

/**
 * The files of a linked file or folder.
 * @param {string} name
 */
export function filesOf(name) {
  if (statSync(path.join(root, name)).isFile()) return [name];
  return readdirSync(path.join(root, name), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${name}/${entry.name}`)
    .toSorted();
}
