import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./root.ts";

/** A fenced code block of a documentation page. */
export interface CodeBlock {
  readonly page: string;
  /** Number of the line with the opening fence. */
  readonly line: number;
  /** The text after the opening fence: language and mark, such as `sh serve`. */
  readonly info: string;
  readonly text: string;
  /** The text of the `text` or `json` block that follows without text between; undefined if there is none. */
  readonly output: string | undefined;
}

const ignoredFolders = new Set(["node_modules", "dist", ".git", ".plinth-mutation"]);

/** The Markdown files below a folder of the project, as paths from the root. */
export function pagesBelow(folder = ""): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return ignoredFolders.has(entry.name) ? [] : pagesBelow(name);
    return entry.name.endsWith(".md") ? [name] : [];
  });
}

/** The code blocks of a page, in order. Those in lists lose their indentation. */
export function codeBlocks(page: string): CodeBlock[] {
  const lines = readFileSync(path.join(root, page), "utf8").split("\n");
  const blocks: Omit<CodeBlock, "output">[] = [];
  const adjacent = new Set<number>();
  let end = -1;
  for (let at = 0; at < lines.length; at++) {
    const [, indent = "", fence, info] = /^( *)(`{3,})(.*)$/.exec(lines[at]!) ?? [];
    if (fence === undefined) continue;
    if (end >= 0 && lines.slice(end + 1, at).every((line) => line.trim() === "")) adjacent.add(blocks.length);
    const start = at;
    do at++;
    while (at < lines.length && lines[at]!.trim() !== fence);
    const text = lines.slice(start + 1, at).map((line) => `${line.slice(indent.length)}\n`);
    blocks.push({ page, line: start + 1, info: info!, text: text.join("") });
    end = at;
  }
  return blocks.map((block, index) => {
    const next = blocks[index + 1];
    const isShown = adjacent.has(index + 1) && next !== undefined && /^(?:text|json)$/.test(next.info);
    return { ...block, output: isShown ? next.text : undefined };
  });
}

/** Whether a text matches a pattern in which `*` stands for any characters. */
export function matches(pattern: string, text: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`).test(text);
}

/**
 * The blocks of a page with an info string, in order; `*` in either stands for any characters. Both must be literals, because
 * `test/tidy/code-blocks.test.ts` reads from the calls which blocks have a test.
 *
 * @throws {Error} if there is none
 */
export function blocksOf(page: string, info: string): CodeBlock[] {
  const pages = page.includes("*") ? pagesBelow(path.posix.dirname(page)).toSorted() : [page];
  const blocks = pages
    .filter((name) => matches(page, name))
    .flatMap(codeBlocks)
    .filter((block) => matches(info, block.info));
  if (blocks.length === 0) throw new Error(`${page} has no code block \`\`\`${info}`);
  return blocks;
}

/**
 * The text of the only block of a page with an info string.
 *
 * @throws {Error} if there are none or several
 */
export function blockOf(page: string, info: string): string {
  const blocks = blocksOf(page, info);
  if (blocks.length > 1) throw new Error(`${page} has several code blocks \`\`\`${info}`);
  return blocks[0]!.text;
}

/** The blocks of a page with an info string as one script. */
export function scriptOf(page: string, info: string): string {
  return blocksOf(page, info)
    .map(({ text }) => text)
    .join("\n");
}
