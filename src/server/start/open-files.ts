import { readFileSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { devNull } from "node:os";
import { exhaustionCodes } from "../../http/transport/connection.ts";

/** Default maximum of client connections. */
export const defaultMaxConnections = 20_000;

/** Minimum number of file descriptors reserved for the store, outgoing connections and Node. */
const minReserved = 64;

/**
 * Returns the maximum number of client connections: the requested number or {@link defaultMaxConnections}, limited to
 * the open-file limit minus the reserved descriptors.
 *
 * @param openFiles the open-file limit of this process; undefined if unknown or unlimited.
 */
export function connectionLimit(requested: number | undefined, openFiles: number | undefined): number {
  const desired = requested ?? defaultMaxConnections;
  if (openFiles === undefined) return desired;
  const reserved = Math.max(minReserved, Math.ceil(openFiles / 10));
  return Math.min(desired, Math.max(1, openFiles - reserved));
}

/** Returns the open-file limit of this process; undefined if unknown or unlimited. */
export function openFileLimit(): number | undefined {
  let text: string;
  try {
    text = readFileSync("/proc/self/limits", "latin1");
  } catch (error) {
    // Only Linux has this file; elsewhere the limit isn't known.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return readOpenFileLimit(text);
}

/** Returns the number of open files of this process; undefined if unknown. */
export async function openFiles(): Promise<number | undefined> {
  try {
    return (await readdir("/proc/self/fd")).length;
  } catch (error) {
    // Only Linux has this folder; reading it fails if no descriptor is free.
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || exhaustionCodes.has(code)) return undefined;
    throw error;
  }
}

/** Whether opening a file fails because no descriptor is free. */
export async function lacksDescriptor(): Promise<boolean> {
  try {
    await (await open(devNull)).close();
    return false;
  } catch (error) {
    return exhaustionCodes.has((error as NodeJS.ErrnoException).code ?? "");
  }
}

/** Parses the soft limit of open files from the text of `/proc/self/limits`. */
export function readOpenFileLimit(text: string): number | undefined {
  const [, soft] = /^Max open files\s+(\S+)/m.exec(text) ?? [];
  return soft === undefined || !/^\d+$/.test(soft) ? undefined : Number(soft);
}
