// Adds files beside the pages: the icon, and the pages as text for language models and other programs.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { home, index, longLists, sections } from "../../navigation.mjs";
import { withSlash } from "../../base.mjs";
import { filesOf, linkedFiles, pages, pagesOf, root, summaryOf, titleOf } from "../../pages.mjs";

/**
 * An integration of Astro.
 * @returns {import("astro").AstroIntegration}
 */
export function staticFiles() {
  let base = "/";
  return {
    name: "static-files",
    hooks: {
      "astro:config:done": ({ config }) => {
        base = withSlash(config.base);
      },
      "astro:build:done": ({ dir }) => {
        const output = fileURLToPath(dir);
        copyFileSync(path.join(root, "console/src/icon.svg"), path.join(output, "icon.svg"));
        writeFileSync(path.join(output, "llms.txt"), indexText(base));
        writeFileSync(path.join(output, "llms-full.txt"), guidesText());
        copySources(path.join(output, "source"));
      },
    },
  };
}

/** The index of the pages in the form of llmstxt.org. */
function indexText(base) {
  const line = (page) => `- [${titleOf(page)}](${base}source/${page}): ${summaryOf(page)}`;
  const parts = [
    "# Plinth",
    `> ${summaryOf("README.md")}`,
    `These pages are Markdown. The [index by reader](${base}source/${index}) says which page is for which task; [llms-full.txt](${base}llms-full.txt) has the guides in one text.`,
    ...sections.map(
      ({ title, entries }) => `## ${title}\n\n${entries.flatMap(pagesOf).map(line).join("\n")}`,
    ),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** The guides in one text, without long lists and the pages of folders. */
function guidesText() {
  const guides = [home, ...sections.flatMap(({ entries }) => entries)]
    .filter((entry) => typeof entry === "string" || "page" in entry)
    .flatMap(pagesOf)
    .filter((page) => !longLists.includes(page));
  return guides.map((page) => `<!-- ${page} -->\n\n${textOf(page).trim()}\n`).join("\n");
}

/** Copies the pages as they are, and the files that they link to, so that the links between them work. */
function copySources(folder) {
  for (const file of [...pages, ...linkedFiles().flatMap(filesOf)]) {
    const copy = path.join(folder, file);
    mkdirSync(path.dirname(copy), { recursive: true });
    copyFileSync(path.join(root, file), copy);
  }
}

const textOf = (file) => readFileSync(path.join(root, file), "utf8");
