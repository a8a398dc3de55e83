import { accessSync, constants } from "node:fs";
import path from "node:path";
import { makeFolder } from "../../base/files/folders.ts";
import { OptionsError } from "../../server/options/options-error.ts";

/** The data folder of a server without `--data-dir`, in the current folder. */
export const defaultDataDir = ".plinth";

/** Returns the folder of the embedded store in a data folder. */
export function storeFolder(dataDir: string): string {
  return `${dataDir}/store`;
}

/** Returns the folder of the server's own CA, certificate and keys in a data folder. */
export function identityFolder(dataDir: string): string {
  return path.join(dataDir, "pki");
}

/**
 * Creates the data folder if it doesn't exist.
 *
 * @throws {OptionsError} if it can't be created or written to; the message names the flag.
 */
export function prepareDataFolder(dataDir: string): void {
  prepareFolder("--data-dir", dataDir);
}

/**
 * Creates the folder of a flag if it doesn't exist.
 *
 * @throws {OptionsError} if it can't be created or written to; the message names the flag.
 */
export function prepareFolder(flag: string, folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw folderError(flag, folder, error);
  }
}

/** Returns the error of a data folder that can't be created, read or written. */
export function dataFolderError(dataDir: string, cause: unknown): OptionsError {
  return folderError("--data-dir", dataDir, cause);
}

function folderError(flag: string, folder: string, cause: unknown): OptionsError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new OptionsError(`${flag} ${folder}: the folder can't be used: ${message}`, { cause });
}

/**
 * Returns the failed system call of an error or its causes if it is about a file in the data folder; otherwise
 * undefined.
 */
export function dataFolderFailure(dataDir: string, error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const { path: failed, cause } = error as NodeJS.ErrnoException;
  if (typeof failed !== "string") return dataFolderFailure(dataDir, cause);
  const isWithin = `${path.resolve(failed)}/`.startsWith(`${path.resolve(dataDir)}/`);
  return isWithin ? error : undefined;
}
