import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeFolder } from "../../../base/files/folders.ts";
import type { Stamp } from "../../stamp.ts";
import { type Revision, StoreDamagedError } from "../../store.ts";
import { checkEnvironment } from "../check.ts";
import { type Environment, oldestMarkTime } from "../databases.ts";
import { acquireEnvironment, defaultMapBytes, releaseEnvironment } from "../environment.ts";
import { damagedError } from "../errors.ts";
import { lockFile } from "../files.ts";
import type { Progress } from "../progress.ts";
import { stampIn } from "../stamp.ts";
import { stateIn } from "../stored-state.ts";

/** Runs work with the store of a folder that no other process uses, and leaves no lock file in it. */
export async function withCopy<T>(
  dir: string,
  work: (environment: Environment) => Promise<T> | T,
): Promise<T> {
  const environment = acquireEnvironment(dir, defaultMapBytes);
  try {
    return await work(environment);
  } finally {
    await releaseEnvironment(environment);
    await rm(join(dir, lockFile), { force: true });
  }
}

/** What a copy of a store contains. */
interface CopyContent {
  readonly revision: Revision;
  readonly stamp: Stamp | undefined;
  /** Time from which on it has every state, in milliseconds since 1970. */
  readonly historySinceMs: number;
  /** Time of its last write, in milliseconds since 1970. */
  readonly lastWriteMs: number;
}

/**
 * Opens a copy, checks it completely and returns its description.
 *
 * @param description names the copy in the message.
 * @throws {StoreDamagedError} if it is damaged.
 */
export function verifyCopy(dir: string, description: string, progress: Progress): Promise<CopyContent> {
  return withCopy(dir, async (environment) => {
    const problems = await checkEnvironment(environment, progress);
    if (problems.length > 0) {
      throw damagedError(dir, new Error(`${description} isn't sound: ${problems.slice(0, 3).join("; ")}`));
    }
    const { revision, markTime: lastWriteMs } = stateIn(environment.meta.getBinary("state"));
    return {
      revision,
      stamp: stampIn(environment),
      historySinceMs: oldestMarkTime(environment),
      lastWriteMs,
    };
  });
}

/**
 * Returns the absolute path of a folder after creating it if it doesn't exist.
 *
 * @throws {StoreDamagedError} if it can't be created or isn't empty.
 */
export async function emptyFolder(dir: string): Promise<string> {
  const path = resolve(dir);
  try {
    makeFolder(path);
  } catch (error) {
    throw damagedError(path, error);
  }
  await requireEmpty(path);
  return path;
}

/** @throws {StoreDamagedError} if the folder exists and isn't empty. */
export async function requireEmpty(dir: string): Promise<void> {
  let content: string[];
  try {
    content = await readdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw damagedError(dir, error);
  }
  if (content.length > 0)
    throw new StoreDamagedError(`the folder ${resolve(dir)} is not empty: choose an empty or a new one`);
}

/** Returns the SHA-256 checksum of a file in hexadecimal. */
export async function hashOf(file: string, progress: Progress): Promise<string> {
  const hash = createHash("sha256");
  const { size } = await stat(file);
  let read = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    progress("computing the checksum", (read += chunk.length) / size);
  }
  return hash.digest("hex");
}
