// Downloads published Go modules of the reference, whose API definitions and tables are read by the other scripts of this folder.
// Needs Go and access to a module proxy.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Outside of any module, so that no go.mod selects versions. */
const folder = path.join(tmpdir(), "plinth-releases");

/**
 * The patch version of each minor release that is read: a late one. Add a release here; before its first version, as a pre-release
 * (`38: "0-beta.0"`), whose facts may still change.
 * @type {Readonly<Record<number, number | string>>}
 */
const patches = { 26: 15, 27: 16, 28: 15, 29: 14, 30: 14, 31: 14, 32: 9, 33: 5, 34: 2, 35: 2, 36: 2, 37: 2 };

/**
 * Downloads a module of a release.
 *
 * @param {string} name such as `k8s.io/api`.
 * @param {number} minor minor release: 27 for 1.27.
 * @returns {string} the folder of its files.
 */
export function moduleFolder(name, minor) {
  const last = patches[minor];
  if (last === undefined) throw new Error(`there is no patch version of release 1.${minor} in modules.mjs`);
  const major = name === "k8s.io/kubernetes" ? 1 : 0;
  if (typeof last === "string") {
    const { Dir, Error: error } = downloaded(`${name}@v${major}.${minor}.${last}`);
    if (error === undefined) return Dir;
    throw new Error(`${name} of release 1.${minor} can't be downloaded: ${error}`);
  }
  // A proxy may lack some versions.
  for (let patch = last; patch >= 0; patch--) {
    const { Dir, Error: error } = downloaded(`${name}@v${major}.${minor}.${patch}`);
    if (error === undefined) return Dir;
  }
  throw new Error(`${name} of release 1.${minor} can't be downloaded`);
}

function downloaded(moduleVersion) {
  try {
    return JSON.parse(go("mod", "download", "-json", moduleVersion));
  } catch (error) {
    if (typeof error.stdout !== "string" || error.stdout === "") throw error;
    return JSON.parse(error.stdout);
  }
}

function go(...args) {
  mkdirSync(folder, { recursive: true });
  // The modules of a release may need a later version of Go than the installed one.
  const env = { ...process.env, GOTOOLCHAIN: "auto" };
  return execFileSync("go", args, {
    cwd: folder,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/**
 * Reads the files below a folder whose path matches.
 *
 * @param {string} root
 * @param {RegExp} pattern
 * @returns {{ file: string, text: string }[]} with paths relative to the folder.
 */
export function filesIn(root, pattern) {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => pattern.test(file))
    .toSorted()
    .map((file) => ({ file, text: readFileSync(path.join(root, file), "utf8") }));
}
