import type { Stats } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { whyUnreadable } from "../../base/files/unreadable.ts";
import { OptionsError } from "./options-error.ts";

/**
 * Reads a file that an option names.
 *
 * @param maxBytes maximum size of a file that is read more than once; undefined: a file of any size, or a pipe.
 * @throws {OptionsError} which names the flag and the file.
 */
export async function readOptionBytes(flag: string, file: string, maxBytes?: number): Promise<Buffer> {
  try {
    if (maxBytes !== undefined) assertRegular(await stat(file), maxBytes);
    return await readFile(file);
  } catch (error) {
    throw new OptionsError(`${flag} ${file}: ${whyUnreadable(error)}`);
  }
}

function assertRegular(stats: Stats, maxBytes: number): void {
  if (!stats.isFile()) throw new Error("is not a regular file");
  if (stats.size > maxBytes)
    throw new Error(`the file has ${stats.size} bytes; at most ${maxBytes} are allowed`);
}

/** As {@link readOptionBytes}, the text. */
export async function readOptionFile(flag: string, file: string): Promise<string> {
  return (await readOptionBytes(flag, file)).toString("utf8");
}
