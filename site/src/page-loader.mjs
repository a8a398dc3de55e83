// Loads the pages of the repository as they are: without front matter, with their title as the first heading.
import { readFileSync } from "node:fs";
import path from "node:path";
import { glob } from "astro/loaders";
import { withSlash } from "../base.mjs";
import {
  addressOf,
  filesOf,
  folders,
  linkedFiles,
  pages,
  pagesIn,
  root,
  summaryOf,
  titleOf,
} from "../pages.mjs";

/** @returns {import("astro/loaders").Loader} */
export function pageLoader() {
  const files = glob({ base: "..", pattern: pages, generateId: ({ entry }) => addressOf(entry) });
  return {
    name: "pages",
    load: async (context) => {
      const parseData = (entry) => {
        const file = path.relative(root, entry.filePath).replaceAll(path.sep, "/");
        return context.parseData({ ...entry, data: { title: titleOf(file), description: summaryOf(file) } });
      };
      const { store, addAll } = collected(context.store);
      await files.load({ ...context, parseData, store });
      for (const page of generatedPages(withSlash(context.config.base)))
        await addPage({ ...context, store }, page);
      addAll();
    },
  };
}

/**
 * A store that adds entries when all are rendered, and later ones at once. While it saves, Astro loses entries that are added meanwhile, and it
 * begins to save whenever half a second passes between two.
 * @param {import("astro/loaders").DataStore} store
 */
function collected(store) {
  /** @type {Map<string, import("astro/loaders").DataEntry> | undefined} */
  let entries = new Map();
  const set = (entry) => {
    if (entries === undefined) return store.set(entry);
    entries.set(entry.id, entry);
    return true;
  };
  const addAll = () => {
    const all = entries;
    entries = undefined;
    for (const entry of all.values()) store.set(entry);
  };
  return { store: { ...store, set }, addAll };
}

/** Pages that aren't files of the repository: lists of folders, and the files that pages link to. */
function* generatedPages(base) {
  const link = (file, text) => `- [${text}](${base}${addressOf(file)}/)`;
  for (const { folder, label, about } of folders) {
    const list = pagesIn(folder).map((page) => link(page, titleOf(page)));
    yield { id: addressOf(folder), title: label, text: [about, "", ...list].join("\n") };
  }
  for (const name of linkedFiles()) {
    const [first, ...others] = filesOf(name);
    const isFolder = first !== name;
    if (isFolder) {
      const list = [first, ...others].map((file) => link(file, path.posix.basename(file)));
      yield { id: addressOf(name), title: `${name}/`, text: list.join("\n") };
    }
    for (const file of [first, ...others]) yield { id: addressOf(file), title: file, text: codeOf(file) };
  }
}

/** A file as a code block of Markdown. */
function codeOf(file) {
  const text = readFileSync(path.join(root, file), "utf8");
  // A fence is longer than every row of backticks in the text.
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${path.extname(file).slice(1) || "text"}\n${text.trimEnd()}\n${fence}`;
}

/** @param {import("astro/loaders").LoaderContext} context */
async function addPage({ parseData, renderMarkdown, store }, { id, title, text }) {
  // Nothing on these pages is worth a list of sections or a result of a search.
  const data = await parseData({ id, data: { title, tableOfContents: false, pagefind: false } });
  store.set({ id, data, body: text, rendered: await renderMarkdown(text) });
}
