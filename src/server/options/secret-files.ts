import type { Stats } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import {
  assertSafe,
  isInGroupVolume,
  modeTextOf,
  otherReaders,
  otherWriters,
  UnsafeFileError,
  unsafeMessage,
} from "../../base/files/private-file.ts";
import { optionsOf } from "./option.ts";
import { serverOptionTable } from "./option-table.ts";
import { OptionsError } from "./options-error.ts";
import type { ServerOptions } from "./server-options.ts";
import type { ValueType } from "./value-type.ts";

/** A file with keys or credentials that an option names. */
interface SecretFile {
  readonly flag: string;
  readonly file: string;
  readonly stats: Stats;
  /** Matches content that others should not read; undefined: any content. */
  readonly content: ValueType["secretContent"];
}

/** Maximum size of a file whose content is read to find credentials in it. */
const maxContentBytes = 1024 * 1024;

/**
 * Checks who can write the files with keys and credentials that options name. Warns of files that their group can write, as in a volume for
 * a group, and of those that others can read; of the latter not in a server of several processes, whose parent does.
 *
 * @throws {OptionsError} which names the option and the file, if other users can write it.
 */
export async function checkSecretFiles(options: ServerOptions): Promise<void> {
  const files = await secretFilesOf(options);
  for (const one of files) await checkWriters(options, one);
  if ((options.processes ?? 1) === 1) await warnOfReaders(options, files);
}

/** Logs one warning with all files of keys and credentials that other users of the machine can read. */
export async function warnOfReadableSecrets(options: ServerOptions): Promise<void> {
  await warnOfReaders(options, await secretFilesOf(options));
}

async function secretFilesOf(options: ServerOptions): Promise<readonly SecretFile[]> {
  const result: SecretFile[] = [];
  for (const { path, option } of optionsOf(serverOptionTable)) {
    const { isSecret, secretContent } = option.type;
    if (isSecret !== true) continue;
    const value = valueAt(options, path);
    const files = Array.isArray(value) ? (value as readonly string[]) : [value];
    for (const file of files) {
      if (typeof file !== "string") continue;
      const stats = await statIfThere(file);
      if (stats?.isFile() === true)
        result.push({ flag: `--${option.flag}`, file, stats, content: secretContent });
    }
  }
  return result;
}

async function checkWriters({ log }: ServerOptions, { flag, file, stats }: SecretFile): Promise<void> {
  try {
    await assertSafe(file, stats, "named");
  } catch (error) {
    if (error instanceof UnsafeFileError) throw new OptionsError(`${flag}: ${error.message}`);
    throw error;
  }
  const writers = otherWriters(stats);
  if (writers !== undefined) log.warn({ file }, `${flag}: ${unsafeMessage(file, stats, writers)}`);
}

async function warnOfReaders({ log }: ServerOptions, files: readonly SecretFile[]): Promise<void> {
  const readable: SecretFile[] = [];
  for (const one of files) if (await isExposed(one)) readable.push(one);
  if (readable.length === 0) return;
  const names = readable.map(({ flag, file, stats }) => `${file} (${flag}, ${modeTextOf(stats.mode)})`);
  const user = process.geteuid?.();
  const fixes = new Set(
    readable.map(({ file, stats }) => `chmod ${stats.uid === user ? "600" : "o-r"} ${file}`),
  );
  log.warn(
    { files: readable.map(({ file }) => file) },
    `other users of this machine can read files with keys or credentials: ${names.join(", ")}; use ${[...fixes].join(", ")}`,
  );
}

async function isExposed({ file, stats, content }: SecretFile): Promise<boolean> {
  const readers = otherReaders(stats);
  if (readers === undefined || (readers === "group" && (await isInGroupVolume(file)))) return false;
  if (content === undefined || stats.size > maxContentBytes) return true;
  return content.test(await textIfReadable(file));
}

/** Returns an empty text for a file that can't be read: the code that uses it reports the error. */
async function textIfReadable(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}

/** Returns undefined for a file that can't be found: the code that reads it reports the error. */
async function statIfThere(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

function valueAt(options: object, path: string): unknown {
  let value: unknown = options;
  for (const key of path.split("."))
    value =
      typeof value === "object" && value !== null
        ? (value as Readonly<Record<string, unknown>>)[key]
        : undefined;
  return value;
}
