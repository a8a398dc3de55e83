import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
import { sections } from "./navigation.mjs";
import { withSlash } from "./base.mjs";
import { addressOf, pagesOf } from "./pages.mjs";
import { finishPages } from "./src/plugins/finish-pages.mjs";
import { repositoryMarkdown } from "./src/plugins/repository-markdown.mjs";
import { staticFiles } from "./src/plugins/static-files.mjs";
import { earlyScript } from "./src/components/vocabulary-choice.mjs";
import { readVocabularies } from "./src/vocabularies.mjs";

// The address at which the site will be published; without it the pages work at the root of any host.
const url = new URL(process.env.PLINTH_SITE_URL ?? "http://localhost/");
const base = withSlash(url.pathname);

/** @param {import("./navigation.mjs").Entry} entry */
function sidebarItem(entry) {
  if (typeof entry === "string") return { slug: addressOf(entry) };
  if ("page" in entry) return { slug: addressOf(entry.page), label: entry.label };
  const items = [{ slug: addressOf(entry.folder), label: "All" }, ...pagesOf(entry).map(sidebarItem)];
  return { label: entry.label, collapsed: true, items };
}

export default defineConfig({
  ...(process.env.PLINTH_SITE_URL === undefined ? {} : { site: url.origin }),
  base,
  trailingSlash: "always",
  build: { inlineStylesheets: "never" },
  // Small scripts and pictures stay files as well, which a Content-Security-Policy of 'self' needs.
  vite: { build: { assetsInlineLimit: 0 } },
  markdown: {
    remarkPlugins: [[repositoryMarkdown, { base, vocabularies: await readVocabularies() }]],
    smartypants: false,
  },
  integrations: [
    starlight({
      title: "Plinth",
      description: "Documentation of Plinth, a resource API server.",
      sidebar: sections.map(({ title, entries }) => ({ label: title, items: entries.map(sidebarItem) })),
      // Its search needs WebAssembly, which the policy doesn't allow.
      pagefind: false,
      components: {
        Search: "./src/components/Search.astro",
        MarkdownContent: "./src/components/MarkdownContent.astro",
        SocialIcons: "./src/components/VocabularySelect.astro",
      },
      customCss: ["./src/site.css"],
      markdown: { processedDirs: [".."] },
      // A comment with a file name in the first lines of a block stays a part of the block.
      expressiveCode: { frames: { extractFileNameFromCode: false } },
      favicon: "/icon.svg",
      head: [{ tag: "script", content: earlyScript }],
      credits: false,
    }),
    staticFiles(),
    finishPages(),
  ],
});
