import { readManifestFiles, type ManifestBytes } from "../../base/manifests.ts";
import type { ManifestObject } from "../../server/validation/documents.ts";
import type { ValidationLocation } from "../../server/validation/problem.ts";
import { entriesOf } from "../../server/validation/sources.ts";
import type { ValidationSources } from "../../server/validation/validate.ts";
import { ClientError } from "../client/client-error.ts";

/** Files of at most this size in all are read once. */
const maxCachedBytes = 16 * 1024 * 1024;

/** The manifests of a command line. Standard input and small files are read once. */
export class ManifestInput {
  private standardInput: Promise<Uint8Array> | undefined;
  private cache: ManifestBytes[] | undefined;

  constructor(
    private readonly sources: readonly string[],
    private readonly readInput: () => Promise<Uint8Array>,
  ) {}

  /** The objects that are validated. */
  readonly entries: ValidationSources["entries"] = (decoded, contextOnly, alsoContext) =>
    entriesOf(this.files(), { decoded, contextOnly, alsoContext });

  /** Reads the files into lines, so that {@link lineAt} can show them. */
  async readLines(
    locations: readonly ValidationLocation[],
  ): Promise<(at: ValidationLocation) => string | undefined> {
    if (locations.length === 0) return () => undefined;
    const files = new Set(locations.map(({ file }) => file));
    const lines = new Map<string, readonly string[]>();
    for await (const { name, bytes } of this.files()) {
      if (bytes !== undefined && files.has(name)) lines.set(name, linesNeeded(bytes, name, locations));
    }
    return ({ file, line }) => lines.get(file)?.[line - 1];
  }

  /** Reads the files; a second time from memory, if they are small. */
  private async *files(): AsyncGenerator<ManifestBytes> {
    if (this.cache !== undefined) return yield* this.cache;
    const readInput = () => (this.standardInput ??= this.readInput());
    const cache: ManifestBytes[] = [];
    let size = 0;
    for await (const file of readManifestFiles(this.sources, { recursive: true, readInput })) {
      size += file.bytes?.length ?? 0;
      if (size <= maxCachedBytes) cache.push(file);
      yield file;
    }
    if (size <= maxCachedBytes) this.cache = cache;
  }
}

/** Returns the lines with problems, at their indexes. */
function linesNeeded(bytes: Uint8Array, name: string, locations: readonly ValidationLocation[]): string[] {
  const all = new TextDecoder().decode(bytes).split(/\r\n|\r|\n/);
  const needed: string[] = [];
  for (const { file, line } of locations)
    if (file === name && all[line - 1] !== undefined) needed[line - 1] = all[line - 1]!;
  return needed;
}

/**
 * Reads objects that aren't validated.
 *
 * @throws {ClientError} if one can't be read.
 */
export async function readContext(sources: readonly string[], flag: string): Promise<ManifestObject[]> {
  const objects: ManifestObject[] = [];
  const readInput = () => Promise.reject(new ClientError(`--${flag}: - is not the path of a file`));
  const files = readManifestFiles(sources, { recursive: true, readInput });
  for await (const entry of entriesOf(files, {
    contextOnly: false,
    decoded: new Map(),
  })) {
    if (entry.object === undefined)
      throw new ClientError(`--${flag}: ${entry.location?.file}:${entry.location?.line}: ${entry.fault}`);
    objects.push(entry.object);
  }
  return objects;
}
