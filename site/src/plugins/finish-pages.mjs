import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parse, serialize } from "parse5";
import { withSlash } from "../../base.mjs";
import { labelCode } from "./label-code.mjs";
import { applyStrictPolicy } from "./strict-policy.mjs";

/**
 * An integration of Astro that changes the built pages: labels for code blocks, and a strict Content-Security-Policy.
 * @returns {import("astro").AstroIntegration}
 */
export function finishPages() {
  let base = "/";
  return {
    name: "finish-pages",
    hooks: {
      "astro:config:done": ({ config }) => {
        base = withSlash(config.base);
      },
      "astro:build:done": async ({ dir }) => {
        const output = fileURLToPath(dir);
        const pages = readdirSync(output, { recursive: true })
          .filter((name) => name.endsWith(".html"))
          .toSorted();
        const trees = pages.map((page) => parse(readFileSync(path.join(output, page), "utf8")));
        for (const tree of trees) labelCode(tree);
        await applyStrictPolicy(trees, output, base);
        for (const [index, page] of pages.entries())
          writeFileSync(path.join(output, page), serialize(trees[index]));
      },
    },
  };
}
