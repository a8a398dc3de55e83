import { mkdirSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { patchedModules, type Patch } from "../support/patched-modules.ts";
import { root } from "../support/root.ts";

/** Inside of node_modules, so that the bundle finds the packages. */
const folder = path.join(root, "node_modules/.plinth-simulator");

/** Limits of the product that are reached only with thousands of objects or streams, made so small that simulated clients reach them. */
const smallLimits: readonly Patch[] = [
  {
    file: "src/storage/deferred-deliveries.ts",
    find: "const sliceBytes = 384 * 1024;",
    replace: "const sliceBytes = 4 * 1024;",
  },
  {
    file: "src/resources/reads/shared-changes.ts",
    find: "export const pageLimits = { limit: 500,",
    replace: "export const pageLimits = { limit: 2,",
  },
];

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
    plugins: [patchedModules([...smallLimits, ...patches])],
  });
  return outfile;
}
