import { mkdirSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { patchedModules, type Patch } from "./patched-modules.ts";
import { root } from "./root.ts";

/** A defect that is planted into the program, to measure whether a long test run finds it. */
export interface PlantedDefect {
  readonly name: string;
  readonly patches: readonly Patch[];
}

/** A defect of transactions. */
export const tornTransaction: PlantedDefect = {
  name: "a transaction is torn: its writes are committed one after the other",
  patches: [
    {
      file: "src/resources/transactions/staged-store.ts",
      find: "    return this.inner.transact([...this.staged].map(([key, staged]) => writeOf(key, staged)));",
      replace:
        "    let result: TransactionResult | undefined;\n" +
        "    for (const [key, staged] of this.staged)\n" +
        "      if (result?.ok !== false) result = await this.inner.transact([writeOf(key, staged)]);\n" +
        "    return result;",
    },
  ],
};

/** A defect of the kept history. */
export const lostAuthor: PlantedDefect = {
  name: "half of the records of a transaction have no author",
  patches: [
    {
      file: "src/storage/history/recorder.ts",
      find: "planned.map((record) => this.recordOf(record, attempt > 0))",
      replace:
        "planned.map((record, index) =>\n" +
        "        this.recordOf(index % 2 === 0 ? record : { ...record, write: { ...record.write, origin: undefined } }, attempt > 0),\n" +
        "      )",
    },
  ],
};

/**
 * Bundles the program with a planted defect.
 *
 * @returns path of the program, a file for node.
 * @throws {Error} if the text of a patch doesn't occur exactly once.
 */
async function plantedProgram({ name, patches }: PlantedDefect): Promise<string> {
  // Inside of node_modules, so that the bundle finds the packages.
  const folder = path.join(root, "node_modules/.plinth-planted", name.replaceAll(/[^A-Za-z]+/g, "-"));
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: { plinth: path.join(root, "src/cli/main.ts") },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node20",
    format: "esm",
    packages: "external",
    logLevel: "silent",
    plugins: [patchedModules(patches)],
  });
  return path.join(folder, "plinth.mjs");
}

/**
 * Searches planted defects, and prints a line for each: what was found, or that nothing was, with the duration.
 *
 * @param only a text in the names of the defects that are searched; empty for all.
 * @param search runs the program; returns what shows the defect, undefined if nothing does.
 */
export async function searchDefects(
  defects: readonly PlantedDefect[],
  only: string,
  search: (program: string) => Promise<string | undefined>,
): Promise<void> {
  for (const defect of defects.filter(({ name }) => name.includes(only))) {
    const beginMs = performance.now();
    const found = await search(await plantedProgram(defect));
    const seconds = ((performance.now() - beginMs) / 1000).toFixed(0);
    process.stdout.write(`${defect.name}: ${found ?? "NOT FOUND"} (${seconds} s)\n`);
    if (found === undefined) process.exitCode = 1;
  }
}
