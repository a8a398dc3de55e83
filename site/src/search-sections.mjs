// Divides pages into sections, which are the results of a search.

/**
 * A section: `address` has the anchor of its heading, `text` is Markdown.
 * @typedef {{ id: number, address: string, page: string, title: string, text: string }} Section
 */

/**
 * The sections of an entry of the collection. The first has the text before the second heading.
 * @returns {Omit<Section, "id">[]}
 */
export function sectionsOf(entry) {
  const page = entry.data.title;
  const address = entry.id === "index" ? "" : `${entry.id}/`;
  const headings = entry.rendered.metadata.headings.filter(({ depth }) => depth > 1);
  const sections = [{ address, page, title: page, text: "" }];
  let fence = "";
  for (const line of entry.body.split("\n")) {
    const [ticks = ""] = /^ *(`{3,})/.exec(line)?.slice(1) ?? [];
    if (ticks !== "" && fence === "") fence = ticks;
    else if (ticks !== "" && line.trim() === fence) fence = "";
    const isHeading = fence === "" && /^#{2,6} /.test(line);
    if (isHeading) {
      const { slug, text } = headings[sections.length - 1];
      sections.push({ address: `${address}#${slug}`, page, title: text, text: "" });
    } else if (!line.startsWith("# ") || fence !== "") sections.at(-1).text += `${line}\n`;
  }
  if (sections.length - 1 !== headings.length)
    throw new Error(`${entry.id}: the headings can't be matched with the text`);
  return sections;
}
