import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const corpusFolder = path.join(import.meta.dirname, "corpus");

/** The inputs of a target that are kept in the repository, by file name. */
export function readCorpus(target: string): Map<string, Buffer> {
  const folder = path.join(corpusFolder, target);
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder).toSorted();
  return new Map(names.map((name) => [name, readFileSync(path.join(folder, name))]));
}

/**
 * Adds an input to the corpus of a target.
 *
 * @param prefix begins the file name, such as `failure`.
 * @returns the path of the file.
 */
export function addToCorpus(target: string, prefix: string, input: Buffer): string {
  const folder = path.join(corpusFolder, target);
  mkdirSync(folder, { recursive: true });
  const digest = createHash("sha256").update(input).digest("hex").slice(0, 12);
  const file = path.join(folder, `${prefix}-${digest}`);
  writeFileSync(file, input);
  return file;
}
