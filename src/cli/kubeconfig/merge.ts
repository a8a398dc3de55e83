import { open, readFile, realpath, rm } from "node:fs/promises";
import path from "node:path";
import type { Document } from "yaml";
import { makeFolder } from "../../base/files/folders.ts";
import { writePrivateFile } from "../../base/files/private-file.ts";
import type { KubeconfigEntries } from "../../server/listening/kubeconfig.ts";
import { ClientError } from "../client/client-error.ts";

/** Result of {@link mergeKubeconfig}. */
export interface MergeResult {
  /** Whether entries of this name existed. */
  readonly isReplaced: boolean;
  /** The current context before; empty if there was none. */
  readonly previousContext: string;
}

/**
 * Adds a cluster, user and context to a kubeconfig file, or replaces those of the name; other entries and comments stay. The file is
 * created if it doesn't exist, and replaced atomically while `FILE.lock` exists, as kubectl does.
 *
 * @param name name of cluster, user and context.
 * @param isCurrent whether the context becomes the current one.
 * @throws {ClientError} if the file can't be read, is no kubeconfig, or is locked.
 */
export async function mergeKubeconfig(
  file: string,
  name: string,
  { cluster, user }: KubeconfigEntries,
  isCurrent: boolean,
): Promise<MergeResult> {
  const target = await resolvedPath(file);
  makeFolder(path.dirname(target));
  return whileLocked(target, async () => {
    const document = await readDocument(target);
    const previous = document.get("current-context");
    const replaced = [
      setNamed(document, target, "clusters", name, { cluster }),
      setNamed(document, target, "users", name, { user }),
      setNamed(document, target, "contexts", name, { context: { cluster: name, user: name } }),
    ];
    const previousContext = typeof previous === "string" ? previous : "";
    if (isCurrent || previousContext === "") document.set("current-context", name);
    writePrivateFile(target, document.toString());
    return { isReplaced: replaced.includes(true), previousContext };
  });
}

/** Returns the file behind symbolic links, so that a link stays one. */
async function resolvedPath(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return path.resolve(file);
    throw error;
  }
}

async function whileLocked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  try {
    await (await open(lock, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new ClientError(`${file}: another program is changing it; delete ${lock} if none is running`);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

const emptyFile = "apiVersion: v1\nkind: Config\nclusters: []\nusers: []\ncontexts: []\n";

async function readDocument(file: string): Promise<Document> {
  const { isMap, parseDocument } = await import("../../base/yaml/yaml-library.ts");
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    text = emptyFile;
  }
  const document = parseDocument(text.trim() === "" ? emptyFile : text);
  const [fault] = document.errors;
  if (fault !== undefined) throw new ClientError(`${file}: not YAML: ${fault.message}`);
  if (!isMap(document.contents)) throw new ClientError(`${file}: not a kubeconfig: it is not a map`);
  return document;
}

/** Sets the entry of a name in a list of the file. @returns whether it existed. */
function setNamed(
  document: Document,
  file: string,
  list: string,
  name: string,
  value: Readonly<Record<string, unknown>>,
): boolean {
  const entries: unknown = document.toJS()[list] ?? [];
  if (!Array.isArray(entries)) throw new ClientError(`${file}: not a kubeconfig: ${list} is not a list`);
  const index = entries.findIndex((one: { readonly name?: unknown } | null) => one?.name === name);
  const entry = document.createNode({ name, ...value });
  // A list that is absent, null or empty in the flow style of `[]` becomes a block list.
  if (entries.length === 0) document.set(list, document.createNode([{ name, ...value }]));
  else if (index === -1) document.addIn([list], entry);
  else document.setIn([list, index], entry);
  return index !== -1;
}
