import { readFile } from "node:fs/promises";
import { whyUnreadable } from "../../base/unreadable.ts";
import { OptionsError } from "./options-error.ts";

/**
 * Reads a file that an option names.
 *
 * @throws {OptionsError} which names the flag and the file.
 */
export async function readOptionBytes(flag: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new OptionsError(`${flag} ${file}: ${whyUnreadable(error)}`);
  }
}

/** As {@link readOptionBytes}, the text. */
export async function readOptionFile(flag: string, file: string): Promise<string> {
  return (await readOptionBytes(flag, file)).toString("utf8");
}
