import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { assertSafe, otherWriters, UnsafeFileError, unsafeMessage } from "../../base/files/private-file.ts";
import { optionsOf } from "./option.ts";
import { serverOptionTable } from "./option-table.ts";
import { OptionsError } from "./options-error.ts";
import type { ServerOptions } from "./server-options.ts";

/**
 * Checks who can write the files with keys and credentials that options name. Warns of files that their group can write, as in a volume for
 * a group.
 *
 * @throws {OptionsError} which names the option and the file, if other users can write it.
 */
export async function checkSecretFiles(options: ServerOptions): Promise<void> {
  for (const { path, option } of optionsOf(serverOptionTable)) {
    if (option.type.isSecret !== true) continue;
    const value = valueAt(options, path);
    const files = Array.isArray(value) ? (value as readonly string[]) : [value];
    for (const file of files)
      if (typeof file === "string") await checkSecretFile(options, `--${option.flag}`, file);
  }
}

async function checkSecretFile({ log }: ServerOptions, flag: string, file: string): Promise<void> {
  const stats = await statIfThere(file);
  if (stats === undefined || !stats.isFile()) return;
  try {
    await assertSafe(file, stats, "named");
  } catch (error) {
    if (error instanceof UnsafeFileError) throw new OptionsError(`${flag}: ${error.message}`);
    throw error;
  }
  const writers = otherWriters(stats);
  if (writers !== undefined) log.warn({ file }, `${flag}: ${unsafeMessage(file, stats, writers)}`);
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
