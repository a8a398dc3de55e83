import { readFileSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { devNull } from "node:os";
import { exhaustionCodes } from "../../http/transport/connection-observer.ts";

/** Client connections that a server lets be open when nobody says how many. */
const usualConnections = 20_000;

/** Files that are left to the store, to connections that the server makes itself, and to what Node needs. */
const fewestReserved = 64;

/**
 * How many client connections may be open at a time: as many as were asked for, or else {@link usualConnections}, but never
 * more than the process may have files open, less what else it needs them for.
 *
 * @param openFiles the most files that this process may have open; undefined where that isn't known, or unlimited.
 */
export function connectionLimit(asked: number | undefined, openFiles: number | undefined): number {
  const wanted = asked ?? usualConnections;
  if (openFiles === undefined) return wanted;
  const reserved = Math.max(fewestReserved, Math.ceil(openFiles / 10));
  return Math.min(wanted, Math.max(1, openFiles - reserved));
}

/** The most files that this process may have open at a time; undefined where the system doesn't say, or sets no limit. */
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

/** How many files this process has open; undefined where the system doesn't say. */
export async function openFiles(): Promise<number | undefined> {
  try {
    return (await readdir("/proc/self/fd")).length;
  } catch (error) {
    // Only Linux has this folder, and it can't be read where no descriptor is left.
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || exhaustionCodes.has(code)) return undefined;
    throw error;
  }
}

/** Whether no further file can be opened now. */
export async function lacksDescriptor(): Promise<boolean> {
  try {
    await (await open(devNull)).close();
    return false;
  } catch (error) {
    return exhaustionCodes.has((error as NodeJS.ErrnoException).code ?? "");
  }
}

/** The soft limit of open files in the text of a process's limits, as Linux writes it. */
export function readOpenFileLimit(text: string): number | undefined {
  const [, soft] = /^Max open files\s+(\S+)/m.exec(text) ?? [];
  return soft === undefined || !/^\d+$/.test(soft) ? undefined : Number(soft);
}
