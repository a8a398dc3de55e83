import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** The project's root folder. */
export const root = path.resolve(import.meta.dirname, "../..");

/** Every file of the project below a folder, as paths from the root with forward slashes; without installed packages. */
export function filesBelow(folder: string): string[] {
  const entries = readdirSync(path.join(root, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"))
    .filter((file) => !file.includes("/node_modules/"))
    .toSorted();
}

export function read(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

/** The source files of the product. */
export const sources = filesBelow("src").filter((file) => file.endsWith(".ts"));

/** The files that a source file imports from the project, types included. */
export function importsOf(file: string): string[] {
  const found = read(file).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map((match) => path.posix.join(path.posix.dirname(file), match[1]!));
}
