import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { isObject } from "./json/value.ts";
import type { JsonDocument } from "./json/exact.ts";
import { SyntaxFault } from "./json/syntax-fault.ts";
import { decodeDocuments } from "./yaml/yaml-documents.ts";

/** A file with its documents, or with the reason why it can't be read. */
export interface ManifestFile {
  /** The path, as named or found in a folder; `-` for standard input. */
  readonly name: string;
  readonly documents: readonly JsonDocument[];
  readonly fault: string | undefined;
}

export interface ManifestOptions {
  /** Whether subfolders are read too. */
  readonly recursive: boolean;
  readonly readInput: () => Promise<Uint8Array>;
}

/** Reads manifests from files, from the files of folders in the order of their names, and from standard input (`-`). */
export async function* readManifests(
  sources: readonly string[],
  options: ManifestOptions,
): AsyncGenerator<ManifestFile> {
  for await (const file of readManifestFiles(sources, options)) {
    if (file.bytes === undefined) yield { name: file.name, documents: [], fault: file.fault };
    else yield await readOne(file.name, file.bytes);
  }
}

/** A file with its content, or with the reason why it can't be read. */
export type ManifestBytes =
  | { readonly name: string; readonly bytes: Uint8Array; readonly fault: undefined }
  | { readonly name: string; readonly bytes: undefined; readonly fault: string };

/** Reads the same files as {@link readManifests} without decoding them. */
export async function* readManifestFiles(
  sources: readonly string[],
  options: ManifestOptions,
): AsyncGenerator<ManifestBytes> {
  for (const source of sources) {
    if (source === "-") yield await bytesOf(source, options.readInput);
    else yield* readPath(source, options);
  }
}

async function* readPath(source: string, options: ManifestOptions): AsyncGenerator<ManifestBytes> {
  let files: readonly string[];
  try {
    const isFolder = (await stat(source)).isDirectory();
    files = isFolder ? await filesIn(source, options.recursive) : [source];
  } catch (error) {
    return yield { name: source, bytes: undefined, fault: faultOf(error) };
  }
  if (files.length === 0) {
    yield { name: source, bytes: undefined, fault: "the folder has no .yaml, .yml or .json file" };
  }
  yield* readAhead(files);
}

/** Number of files that are read while the one before them is processed: a read takes longer by its wait than by its work. */
const filesAhead = 8;

async function* readAhead(files: readonly string[]): AsyncGenerator<ManifestBytes> {
  const read = (file: string) => bytesOf(file, () => readFile(file));
  const reads: Promise<ManifestBytes>[] = [];
  try {
    for (let next = 0, at = 0; at < files.length; at++) {
      while (next < files.length && next <= at + filesAhead) reads.push(read(files[next++]!));
      yield await reads.shift()!;
    }
  } finally {
    // Of a caller that stops early.
    await Promise.allSettled(reads);
  }
}

async function bytesOf(name: string, read: () => Promise<Uint8Array>): Promise<ManifestBytes> {
  try {
    return { name, bytes: await read(), fault: undefined };
  } catch (error) {
    return { name, bytes: undefined, fault: faultOf(error) };
  }
}

async function filesIn(folder: string, recursive: boolean): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(recursive ? await filesIn(file, recursive) : []));
    else if (/\.(ya?ml|json)$/i.test(entry.name)) files.push(file);
  }
  return files;
}

async function readOne(name: string, bytes: Uint8Array): Promise<ManifestFile> {
  try {
    return { name, documents: await decodeDocuments(bytes), fault: undefined };
  } catch (error) {
    return { name, documents: [], fault: faultOf(error) };
  }
}

/** Returns the reason why a file can't be read; rethrows other errors. */
function faultOf(error: unknown): string {
  if (error instanceof SyntaxFault) return `neither YAML nor JSON: ${error.message}`;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such file or folder";
  if (code === "EACCES") return "permission denied";
  if (code === undefined) throw error;
  return (error as Error).message;
}

/** A manifest, and where it is from. */
export interface Manifest {
  /** Begins the messages of errors: `crds/order.yaml, document 2`; empty for a single object. */
  readonly origin: string;
  readonly document: JsonDocument;
}

/**
 * Returns the objects of documents; those of a `List` replace it.
 *
 * @param file begins their origins; empty for none.
 */
export function manifestsIn(
  file: string,
  unit: "document" | "object",
  documents: readonly JsonDocument[],
): Manifest[] {
  return documents.flatMap((document, index) => {
    const { value, duplicates } = document;
    const position = documents.length === 1 ? "" : `${unit} ${index + 1}`;
    const origin = [file, position].filter((text) => text !== "").join(", ");
    if (!isObject(value) || value["kind"] !== "List" || !Array.isArray(value["items"]))
      return [{ origin, document }];
    return value["items"].map((item, at) => ({
      origin: `${origin}${origin === "" ? "" : ", "}item ${at + 1}`,
      document: { value: item, duplicates },
    }));
  });
}
