// Shared functions of the scripts that create the files of a recipe.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

/** An argument that the script can't use, or a file that is in the way. */
export class UsageError extends Error {}

/**
 * Runs a script; prints a usage error as one line and exits with 2.
 *
 * @param {() => readonly string[]} script creates the files and returns their paths, and hints, one per line
 */
export function runScript(script) {
  try {
    for (const line of script()) console.log(line);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    process.exitCode = 2;
  }
}

/** @param {string} name such as `MaintenanceWindow`; returns `maintenance-window` */
export function kebabCase(name) {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "-").toLowerCase();
}

/** @param {string | undefined} name the name of a kind or plugin; throws unless it is in upper camel case */
export function assertUpperCamelCase(name, usage) {
  if (name === undefined || !/^[A-Z][A-Za-z0-9]+$/.test(name)) {
    throw new UsageError(`${usage}\nThe name is in upper camel case, such as MaintenanceWindow.`);
  }
}

/** @param {string} file a path from the root of the project */
export function exists(file) {
  return existsSync(path.join(root, file));
}

export function read(file) {
  return readFileSync(path.join(root, file), "utf8");
}

/** Throws if one of the files exists, so that nothing is written over. */
export function assertAbsent(...files) {
  for (const file of files) if (exists(file)) throw new UsageError(`${file} exists already`);
}

export function write(file, text) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

/**
 * Inserts text before the first match.
 *
 * @param {string} file
 * @param {(text: string) => number} find returns the index to insert at, or -1
 * @param {string} inserted
 */
export function insertAt(file, find, inserted) {
  const text = read(file);
  const index = find(text);
  if (index === -1) throw new UsageError(`${file} has no line to add ${JSON.stringify(inserted.trim())} at`);
  write(file, text.slice(0, index) + inserted + text.slice(index));
}
