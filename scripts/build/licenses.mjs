// The licenses of the libraries in a bundle; most of them require that their text is distributed with it.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * The license of each package of which a file went into the bundle, in order of name.
 *
 * @param {readonly string[]} inputs the bundle's files, relative to the current folder.
 * @returns {string}
 */
export function licenseTexts(inputs) {
  const folders = new Set(inputs.map(packageFolder).filter((folder) => folder !== undefined));
  return [...folders]
    .map((folder) => ({ folder, ...JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ folder, name, version, license }) => `${name} ${version}, ${license}\n\n${textIn(folder)}\n`)
    .join(`\n${"-".repeat(80)}\n\n`);
}

/** `node_modules/@scope/name` of a file in it; undefined for a file of our own. */
function packageFolder(file) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
}

/** Some packages only name their license. */
function textIn(folder) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file === undefined
    ? "The package holds no text of its license."
    : readFileSync(path.join(folder, file), "utf8").trim();
}
