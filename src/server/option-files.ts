import { readFile } from "node:fs/promises";
import { OptionsError } from "./options.ts";

/**
 * Reads a file that an option names.
 *
 * @throws {OptionsError} which names the flag and the file.
 */
export async function readOptionFile(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "the file doesn't exist" : String(error);
    throw new OptionsError(`${flag} ${file}: ${why}`);
  }
}
