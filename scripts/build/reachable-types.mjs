// Declarations that a program can reach from the entries of the package.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";

/**
 * Deletes the declaration files that no entry imports, directly or indirectly.
 *
 * @param {string} folder the folder of the declarations
 * @param {readonly string[]} entries declaration files of the entries
 */
export function pruneTypes(folder, entries) {
  const reached = new Set();
  const queue = entries.map((file) => path.resolve(file));
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    const imports = readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
    for (const [, target] of imports) {
      queue.push(path.resolve(path.dirname(file), target.replace(/(\.d)?\.ts$/, ".d.ts")));
    }
  }
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = path.resolve(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(file)) rmSync(file);
  }
}
