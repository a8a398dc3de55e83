import MiniSearch from "minisearch";
import { getCollection } from "astro:content";
import { searchOptions } from "../search-options.mjs";
import { sectionsOf } from "../search-sections.mjs";

/** The index of the search, which the search loads when it is opened. */
export async function GET() {
  const entries = await getCollection("docs", ({ data }) => data.pagefind !== false);
  const index = new MiniSearch(searchOptions);
  const sections = entries.toSorted((a, b) => (a.id < b.id ? -1 : 1)).flatMap(sectionsOf);
  index.addAll(sections.map((section, id) => ({ ...section, id })));
  return new Response(JSON.stringify(index));
}
