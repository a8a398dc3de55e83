// Adapts Markdown that is written for a repository browser to the site.
import path from "node:path";
import { resolveLink, root } from "../../pages.mjs";

/** Highlighted like another language that has the same words. */
const similarLanguages = { cel: "js" };

/**
 * A plugin of remark: removes the title, which the page shows by itself, leads links to the pages of the site, and keeps of a
 * block's info string the language and the file (`ts file=src/a.ts`).
 * @param {{ base: string }} options
 */
export function repositoryMarkdown({ base }) {
  return (tree, file) => {
    if (file.path !== undefined) {
      const page = path.relative(root, file.path).replaceAll(path.sep, "/");
      const title = tree.children.findIndex(({ type, depth }) => type === "heading" && depth === 1);
      tree.children.splice(title, 1);
      adaptLinks(tree, page, base);
    }
    adaptBlocks(tree);
  };
}

function adaptLinks(node, page, base) {
  if (node.type === "link" || node.type === "definition")
    node.url = resolveLink(page, node.url, base) ?? node.url;
  for (const child of node.children ?? []) adaptLinks(child, page, base);
}

function adaptBlocks(node) {
  if (node.type === "code") {
    const file = /^file=(\S+)$/.exec(node.meta ?? "")?.[1];
    node.meta = file === undefined ? null : `title="${file}"`;
    node.lang = similarLanguages[node.lang] ?? node.lang;
  }
  for (const child of node.children ?? []) adaptBlocks(child);
}
