import { readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "esbuild";
import { root } from "./root.ts";

/** A textual change of a module, which plants a defect into a bundle. */
export interface Patch {
  /** Path of the module from the root of the project. */
  readonly file: string;
  /** Text that occurs exactly once in the module. */
  readonly find: string;
  readonly replace: string;
}

/**
 * Returns a plugin of esbuild that applies patches to the modules of a bundle.
 *
 * @throws {Error} if the text of a patch doesn't occur exactly once.
 */
export function patchedModules(patches: readonly Patch[]): Plugin {
  const texts = new Map<string, string>();
  for (const { file, find, replace } of patches) {
    const full = path.join(root, file);
    const text = texts.get(full) ?? readFileSync(full, "utf8");
    const parts = text.split(find);
    if (parts.length !== 2)
      throw new Error(`${file}: the text to replace occurs ${parts.length - 1} times, not once: ${find}`);
    texts.set(full, parts.join(replace));
  }
  return {
    name: "patched modules",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
        const contents = texts.get(file);
        return contents === undefined ? undefined : { contents, loader: "ts" };
      });
    },
  };
}
