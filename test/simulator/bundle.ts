import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { build, type Plugin } from "esbuild";

/** A textual change of one source file, which plants a defect. */
export interface Patch {
  /** Path of the file from the root of the repository. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

const root = path.resolve(import.meta.dirname, "../..");
/** Inside of node_modules, so that the bundle finds the packages. */
const folder = path.join(root, "node_modules/.plinth-simulator");

/**
 * Bundles the product and the simulation into one file. In a bundle, a dynamic import of the product's own files is a promise job, so that
 * it doesn't depend on the speed of the disk.
 *
 * @param name base name of the bundle.
 * @param patches planted defects.
 * @returns path of the bundle; a program for node.
 * @throws {Error} if the text of a patch doesn't occur exactly once.
 */
export async function bundle(name: string, patches: readonly Patch[] = []): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const outfile = path.join(folder, `${name}.mjs`);
  await build({
    entryPoints: [path.join(import.meta.dirname, "process.ts")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    packages: "external",
    logLevel: "silent",
    sourcemap: true,
    plugins: patches.length === 0 ? [] : [patchedFiles(patches)],
  });
  return outfile;
}

/** Applies patches to the files that a bundle loads. */
function patchedFiles(patches: readonly Patch[]): Plugin {
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
    name: "planted-defects",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
        const contents = texts.get(file);
        return contents === undefined ? undefined : { contents, loader: "ts" };
      });
    },
  };
}
