/**
 * Gives the code blocks of a page labels that differ, as a block becomes a region if it is wider than the page.
 * @param {import("parse5").DefaultTreeAdapterTypes.Node} tree
 */
export function labelCode(tree) {
  let count = 0;
  const label = (node) => {
    if (node.tagName === "pre") node.attrs.push({ name: "aria-label", value: `Code ${++count}` });
    for (const child of node.childNodes ?? []) label(child);
  };
  label(tree);
}
