import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { JsonDocument } from "../base/json/exact.ts";
import { SyntaxFault } from "../base/json/syntax-fault.ts";
import { decodeDocuments } from "../base/yaml-documents.ts";

/** A file with its documents, or with the reason why it can't be read. */
export interface ManifestFile {
  /** As it was named, or found in a folder; `-` for standard input. */
  readonly name: string;
  readonly documents: readonly JsonDocument[];
  readonly fault: string | undefined;
}

export interface ManifestOptions {
  /** Whether folders within folders are read too. */
  readonly recursive: boolean;
  readonly readInput: () => Promise<Uint8Array>;
}

/** Reads manifests from files, from the files of folders in the order of their names, and from standard input (`-`). */
export async function* readManifests(
  places: readonly string[],
  options: ManifestOptions,
): AsyncGenerator<ManifestFile> {
  for (const place of places) {
    if (place === "-") yield await readOne(place, options.readInput);
    else yield* readPlace(place, options);
  }
}

async function* readPlace(place: string, options: ManifestOptions): AsyncGenerator<ManifestFile> {
  let files: readonly string[];
  try {
    const isFolder = (await stat(place)).isDirectory();
    files = isFolder ? await filesIn(place, options.recursive) : [place];
  } catch (error) {
    return yield { name: place, documents: [], fault: faultOf(error) };
  }
  if (files.length === 0) {
    yield { name: place, documents: [], fault: "no .yaml, .yml or .json file is in this folder" };
  }
  for (const file of files) yield await readOne(file, () => readFile(file));
}

async function filesIn(folder: string, recursive: boolean): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(recursive ? await filesIn(file, recursive) : []));
    else if (/\.(ya?ml|json)$/i.test(entry.name)) found.push(file);
  }
  return found;
}

async function readOne(name: string, read: () => Promise<Uint8Array>): Promise<ManifestFile> {
  try {
    return { name, documents: await decodeDocuments(await read()), fault: undefined };
  } catch (error) {
    return { name, documents: [], fault: faultOf(error) };
  }
}

/** Why a file can't be read; whatever isn't the file's fault is thrown on. */
function faultOf(error: unknown): string {
  if (error instanceof SyntaxFault) return `neither YAML nor JSON: ${error.message}`;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such file or folder";
  if (code === "EACCES") return "it may not be read";
  if (code === undefined) throw error;
  return (error as Error).message;
}
