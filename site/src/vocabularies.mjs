// Reads the names of the API in both vocabularies from the source of the product, which is TypeScript.
import { build } from "esbuild";
import { root } from "../pages.mjs";

const source = `
export { platform } from "./src/vocabulary/platform.ts";
export { kubernetes } from "./src/vocabulary/kubernetes.ts";
import * as all from "./src/kinds/groups.ts";
export const groups = Object.values(all).filter(({ suffixed }) => suffixed).map(({ base }) => base);
`;

/** @returns {Promise<import("./vocabulary-forms.mjs").Vocabularies>} */
export async function readVocabularies() {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: root, loader: "ts" },
    bundle: true,
    format: "esm",
    write: false,
  });
  return await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}
