// Adapts Markdown that is written for a repository browser to the site.
import path from "node:path";
import { longLists } from "../../navigation.mjs";
import { resolveLink, root } from "../../pages.mjs";
import { kubernetesForm } from "../vocabulary-forms.mjs";

/** Highlighted like another language that has the same words. */
const similarLanguages = { cel: "js" };

/**
 * A plugin of remark: removes the title, which the page shows by itself, leads links to the pages of the site, adds the form of an
 * example in the other vocabulary, and keeps of a block's info string the language and the file (`ts file=src/a.ts`).
 * @param {{ base: string, vocabularies: import("../vocabulary-forms.mjs").Vocabularies }} options
 */
export function repositoryMarkdown({ base, vocabularies }) {
  return (tree, file) => {
    if (file.path !== undefined) {
      const page = path.relative(root, file.path).replaceAll(path.sep, "/");
      const title = tree.children.findIndex(({ type, depth }) => type === "heading" && depth === 1);
      tree.children.splice(title, 1);
      adaptLinks(tree, page, base);
      if (!longLists.includes(page)) addForms(tree, vocabularies);
    }
    adaptBlocks(tree);
  };
}

function adaptLinks(node, page, base) {
  if (node.type === "link" || node.type === "definition")
    node.url = resolveLink(page, node.url, base) ?? node.url;
  for (const child of node.children ?? []) adaptLinks(child, page, base);
}

/** Puts an example into an element for each vocabulary, of which the stylesheet shows one. Files of tests have the names that they have. */
function addForms(node, vocabularies) {
  node.children = node.children?.flatMap((child) => {
    addForms(child, vocabularies);
    if (child.type !== "code" || child.meta?.startsWith("file=test/")) return [child];
    const value = kubernetesForm(child.value, vocabularies);
    if (value === undefined) return [child];
    const other = { type: "code", lang: child.lang, meta: null, value };
    return [formOf("platform", child), formOf("kubernetes", other)];
  });
}

const formOf = (vocabulary, block) => ({
  type: "form",
  data: { hName: "div", hProperties: { "data-form": vocabulary } },
  children: [block],
});

function adaptBlocks(node) {
  if (node.type === "code") {
    const file = /^file=(\S+)$/.exec(node.meta ?? "")?.[1];
    node.meta = file === undefined ? null : `title="${file}"`;
    node.lang = similarLanguages[node.lang] ?? node.lang;
  }
  for (const child of node.children ?? []) adaptBlocks(child);
}
