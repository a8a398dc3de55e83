import { diskIsFull } from "./disk-space.ts";
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

/** Advice for a failure, by a pattern of its message. */
const adviceByMessage: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /EACCES|EPERM|EROFS|Permission denied|Read-only/,
    "make it writable for this user, or choose another folder",
  ],
  [/files were replaced/, "close the store that has them open first"],
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

/** Creates the error for a write without space. */
export function fullError(dir: string, why: string, cause?: unknown): StoreFullError {
  return new StoreFullError(
    `no room for the write in ${dir} (${why}): free space on the disk or raise the size limit; nothing was written`,
    { cause },
  );
}

/** Creates the error for a write that another process blocked. */
export function lockedError(dir: string, holder: string | undefined, waitedMs: number): StoreTimeoutError {
  return new StoreTimeoutError(
    `no write to ${dir} could begin for ${(waitedMs / 1000).toFixed(1)} s: ${holder ?? "another process"} holds ` +
      "the right to write; let it go on, or end it; nothing was written",
  );
}

/** Creates the error for an operation that requires exclusive use of a folder. */
export function usedError(dir: string, process: number): StoreTimeoutError {
  return new StoreTimeoutError(
    `${dir} is in use by process ${process}: end that server first; nothing was changed`,
  );
}

/** Creates the error for a file that was replaced by `plinth compact` after it was opened. */
export function replacedError(dir: string): StoreTimeoutError {
  return new StoreTimeoutError(`${dir} was compacted by another process while it was opened: try again`);
}

/** Returns the cause of a failed transaction. lmdb-js provides it as a promise on the error. */
export async function transactionError(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !("commitError" in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}

/** Creates the error for a failed write transaction, of which nothing was written. */
export function writeError(dir: string, cause: unknown): StoreError {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (fullMessages.some((word) => message.includes(word))) {
    return fullError(dir, message, cause);
  }
  if (message.includes("Input/output error") && diskIsFull(dir))
    return fullError(dir, "the disk is full", cause);
  return damagedError(dir, cause);
}
