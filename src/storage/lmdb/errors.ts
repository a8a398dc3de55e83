import { diskIsFull } from "./room.ts";
import { StoreDamagedError, type StoreError, StoreFullError, StoreTimeoutError } from "../store.ts";

const fullMessages = [
  "MDB_MAP_FULL",
  "MDB_TXN_FULL",
  "No space left on device",
  "Disk quota exceeded",
  "File too large",
  "ENOSPC",
  "EDQUOT",
  "EFBIG",
];

/** What to do about a failure, by a word of its message. */
const adviceByMessage: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /EACCES|EPERM|EROFS|Permission denied|Read-only/,
    "make it writable for this user, or choose another folder",
  ],
  [/no store in it/, "name the data folder of a server"],
  [/ENOTDIR|EEXIST|not a folder|Not a directory/, "choose a folder, not a file"],
  [/VERSION_MISMATCH|MDB_INVALID|CORRUPTED|cut off|PAGE_NOTFOUND/, "restore a backup into an empty folder"],
  [/LOCK|READERS_FULL|EAGAIN|temporarily/, "make sure that the folder is on a local disk and try again"],
  [/Cannot allocate|ENOMEM/, "raise the limit on address space or open it with a smaller map size"],
];

/** Returns the error of an unusable folder; its message names the folder and the remedy. */
export function damagedError(dir: string, cause: unknown): StoreDamagedError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const advice = adviceByMessage.find(([pattern]) => pattern.test(message))?.[1];
  const what = advice ?? "check the disk, then restore a backup into an empty folder";
  return new StoreDamagedError(`the data folder ${dir} can't be used: ${message}; ${what}`, { cause });
}

/** The error of a write for which there is no room. */
export function fullError(dir: string, why: string, cause?: unknown): StoreFullError {
  return new StoreFullError(
    `no room for the write in ${dir} (${why}): free space on the disk or raise the size limit; nothing was written`,
    { cause },
  );
}

/** The error of a write that another process kept from beginning. */
export function lockedError(dir: string, holder: string | undefined, waitedMs: number): StoreTimeoutError {
  return new StoreTimeoutError(
    `no write to ${dir} could begin for ${(waitedMs / 1000).toFixed(1)} s: ${holder ?? "another process"} holds ` +
      "the right to write; let it go on, or end it; nothing was written",
  );
}

/** The error of work that needs a folder to itself. */
export function usedError(dir: string, process: number): StoreTimeoutError {
  return new StoreTimeoutError(
    `${dir} is in use by process ${process}: end that server first; nothing was changed`,
  );
}

/** The error of who opened a file that was then replaced by a smaller one. */
export function replacedError(dir: string): StoreTimeoutError {
  return new StoreTimeoutError(`${dir} was compacted by another process while it was opened: try again`);
}

/** Why a transaction failed: lmdb-js says only that it did, and the reason in a promise on the error. */
export async function transactionError(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !("commitError" in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}

/** The error that a failed write transaction becomes; nothing of the transaction was written. */
export function writeError(dir: string, cause: unknown): StoreError {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (fullMessages.some((word) => message.includes(word))) {
    return fullError(dir, message, cause);
  }
  if (message.includes("Input/output error") && diskIsFull(dir))
    return fullError(dir, "the disk is full", cause);
  return damagedError(dir, cause);
}
