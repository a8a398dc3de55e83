import { accessSync, constants } from "node:fs";
import path from "node:path";
import { makeFolder } from "../base/folders.ts";
import { OptionsError } from "../server/options/options-error.ts";

/** Where the embedded store lies in a data folder. */
export function storeFolder(dataDir: string): string {
  return `${dataDir}/store`;
}

/** Where the server's own authority, certificate and keys lie in a data folder. */
export function identityFolder(dataDir: string): string {
  return path.join(dataDir, "pki");
}

/**
 * Makes the data folder where it is missing.
 *
 * @throws {OptionsError} it can't be made or written to; the message names the flag.
 */
export function prepareDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw dataFolderError(dataDir, error);
  }
}

/** The error of a data folder that the system refuses to make, read or write. */
export function dataFolderError(dataDir: string, cause: unknown): OptionsError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new OptionsError(`--data-dir ${dataDir}: the folder can't be used: ${message}`, { cause });
}

/** The failed call to the system, about something in the data folder, that an error is or is caused by. */
export function dataFolderFailure(dataDir: string, error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const { path: failed, cause } = error as NodeJS.ErrnoException;
  if (typeof failed !== "string") return dataFolderFailure(dataDir, cause);
  const isWithin = `${path.resolve(failed)}/`.startsWith(`${path.resolve(dataDir)}/`);
  return isWithin ? error : undefined;
}
