import { stat } from "node:fs/promises";
import { join } from "node:path";
import { damagedError } from "./errors.ts";
import { dataFile } from "./files.ts";

/**
 * Asserts that a folder has a store, because opening an empty folder would create one.
 *
 * @throws {StoreDamagedError} if it has none, or doesn't exist.
 */
export async function requireStore(dir: string): Promise<void> {
  try {
    await stat(join(dir, dataFile));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw damagedError(dir, code === "ENOENT" ? new Error("there is no store in it") : error);
  }
}
