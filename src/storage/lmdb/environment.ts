import { accessSync, constants, mkdirSync, realpathSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import { FIRST_REVISION } from "../entry.ts";
import { StoreDamagedError } from "../store.ts";
import { historyKeys, numberKeys, type RawEntry, RecordCodec, textKeys } from "./codecs.ts";
import { checkNow } from "./check.ts";
import { damagedError } from "./errors.ts";
import { encodeState, FORMAT_VERSION, type HistoryKey } from "./layout.ts";

/** The open databases of a folder; see `layout.ts`. */
export interface Environment {
  readonly dir: string;
  readonly root: RootDatabase<Buffer, string>;
  readonly data: Database<RawEntry | Buffer, string>;
  readonly history: Database<RawEntry | Buffer, HistoryKey>;
  readonly log: Database<Buffer, number>;
  readonly counts: Database<Buffer, string>;
  readonly marks: Database<Buffer, number>;
  readonly meta: Database<Buffer, string>;
  /** The value codec of `data` and `history`. */
  readonly records: RecordCodec;
}

/** The file in which LMDB keeps everything. */
export const DATA_FILE = "data.mdb";

/** Address space, not disk: the file grows as it fills. */
export const DEFAULT_MAP_BYTES = 256 * 2 ** 30;

interface Shared {
  readonly environment: Environment;
  users: number;
}

/**
 * A folder may be opened once only by a process: its file locks belong to the process, and two writers in one thread
 * would wait for each other. So stores over the same folder share the environment here, and nothing else.
 */
const openFolders = new Map<string, Shared>();

/**
 * Opens a folder, making it when it doesn't exist.
 *
 * @throws {StoreDamagedError} the folder or what is in it can't be used.
 */
export function acquireEnvironment(dir: string, mapBytes: number): Environment {
  const path = prepareFolder(dir);
  const shared = openFolders.get(path);
  if (shared !== undefined) {
    shared.users++;
    return shared.environment;
  }
  let environment: Environment;
  try {
    environment = openEnvironment(path, mapBytes);
  } catch (error) {
    throw error instanceof StoreDamagedError ? error : damagedError(path, error);
  }
  openFolders.set(path, { environment, users: 1 });
  return environment;
}

/** Gives an environment back; the last user closes it. */
export async function releaseEnvironment(environment: Environment): Promise<void> {
  const shared = openFolders.get(environment.dir);
  if (shared === undefined || --shared.users > 0) return;
  openFolders.delete(environment.dir);
  await environment.root.close();
}

function prepareFolder(dir: string): string {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const path = realpathSync(dir);
    if (!statSync(path).isDirectory()) throw new Error("it is not a folder");
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    throw damagedError(dir, error);
  }
}

function openEnvironment(dir: string, mapBytes: number): Environment {
  refuseForeignFile(dir);
  const root = open<Buffer, string>({
    path: dir,
    noSubdir: false,
    // With overlapping syncs a write would be acknowledged before it is durable.
    overlappingSync: false,
    mapSize: mapBytes,
    maxDbs: 8,
    maxReaders: 512,
    encoding: "binary",
    ...{ keyEncoder: textKeys },
  });
  try {
    root.readerCheck();
    const shortened = lengthenToItsPages(dir, root);
    const records = new RecordCodec();
    const plain = { encoding: "binary" as const, compression: false };
    const environment: Environment = {
      dir,
      root,
      records,
      meta: root.openDB({ name: "meta", ...plain, ...{ keyEncoder: textKeys } }),
      data: root.openDB({ name: "data", ...{ encoder: records, keyEncoder: textKeys } }),
      history: root.openDB({ name: "history", ...{ encoder: records, keyEncoder: historyKeys } }),
      log: root.openDB({ name: "log", ...plain, ...{ keyEncoder: numberKeys } }),
      counts: root.openDB({ name: "counts", ...plain, ...{ keyEncoder: textKeys } }),
      marks: root.openDB({ name: "marks", ...plain, ...{ keyEncoder: numberKeys } }),
    };
    initialise(environment);
    if (shortened) refuseDamage(environment);
    return environment;
  } catch (error) {
    void root.close();
    throw error;
  }
}

/** What LMDB would only report as a failed call, or not at all, is looked at first. */
function refuseForeignFile(dir: string): void {
  const file = statSync(join(dir, DATA_FILE), { throwIfNoEntry: false });
  if (file === undefined || file.size === 0) return;
  if (!file.isFile()) throw new Error(`${DATA_FILE} is not a file`);
  accessSync(join(dir, DATA_FILE), constants.R_OK | constants.W_OK);
  if (file.size < 8192) throw new Error(`${DATA_FILE} is cut off at ${file.size} bytes`);
}

/**
 * LMDB reads its file through memory, and reading past the end of one that was cut off ends the process. So a file that
 * is shorter than its own last page says is lengthened with zeros; then {@link refuseDamage} tells whether any page that
 * is missing was in use (unused ones at the end need not have been written).
 */
function lengthenToItsPages(dir: string, root: RootDatabase<Buffer, string>): boolean {
  const { env } = root as unknown as {
    env: { info(): { lastPageNumber: number }; stat(): { pageSize: number } };
  };
  const needed = (env.info().lastPageNumber + 1) * env.stat().pageSize;
  const file = join(dir, DATA_FILE);
  if (statSync(file).size >= needed) return false;
  truncateSync(file, needed);
  return true;
}

function refuseDamage(environment: Environment): void {
  const problems = checkNow(environment);
  if (problems.length > 0) throw new Error(`${DATA_FILE} was cut off: ${problems.slice(0, 3).join("; ")}`);
}

function initialise({ dir, root, meta }: Environment): void {
  root.transactionSync(() => {
    const state = meta.getBinary("state");
    if (state === undefined) {
      meta.putSync("state", encodeState({ revision: FIRST_REVISION, floor: FIRST_REVISION }));
    } else if (state[0] !== FORMAT_VERSION) {
      throw new StoreDamagedError(
        `the data folder ${dir} has format version ${state[0]}, this program knows ${FORMAT_VERSION}: ` +
          "use the program version that wrote it, or restore a backup into an empty folder",
      );
    }
  });
}
