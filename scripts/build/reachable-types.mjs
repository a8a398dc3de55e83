// Declarations that a program can reach from the entries of the package, as modules and as CommonJS.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/**
 * Writes each declaration file of a folder a second time, as `.d.cts`, for programs that use `require`.
 *
 * @param {string} folder the folder of the declarations
 */
export function writeCommonJsTypes(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.name.endsWith(".d.ts")) continue;
    const file = path.join(entry.parentPath, entry.name);
    const text = readFileSync(file, "utf8").replaceAll(/"(\.{1,2}\/[^"\n]*)\.ts"/g, '"$1.cts"');
    writeFileSync(file.replace(/\.d\.ts$/, ".d.cts"), text);
  }
}
