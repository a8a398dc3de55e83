import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { StaticObjects } from "../../admission/manifests/static-objects.ts";
import {
  readManifests,
  type ManifestDocument,
  type ManifestObjects,
} from "../../admission/manifests/read-manifests.ts";
import { FileWatch } from "../../base/files/file-watch.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { stackOf } from "../../base/logger.ts";
import { ManifestCounters } from "../../base/reload-counters.ts";
import { whyUnreadable } from "../../base/files/unreadable.ts";
import { decodeDocuments } from "../../base/yaml/yaml-documents.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import type { Kind } from "../../schema/kind.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { type AdmissionParts, policyPrograms } from "../webhooks/admission-parts.ts";

/** The name of the field of a plugin's configuration. */
const fieldName = "staticManifestsDir";
const gate = "ManifestBasedAdmissionControlConfig";
/** Maximum size of all files of a folder. */
const maxBytes = 16 * 1024 * 1024;
const extensions = new Set([".yaml", ".yml", ".json"]);

/** How a plugin uses manifests. */
export interface ManifestUse<T> {
  readonly plugin: string;
  readonly kinds: readonly Kind[];
  /** Compiles the objects. @throws {ConfigurationError} they don't fit together. */
  readonly compile: (objects: ManifestObjects) => T;
}

/**
 * Reads the objects of a plugin from the files of a folder, and again when they change. Changed files that can't be used are logged and
 * counted; the previous objects stay in use.
 *
 * @param folder value of `staticManifestsDir`; undefined or empty for none.
 * @throws {ConfigurationError} the folder or a file can't be used.
 */
export async function staticManifests<T>(
  options: ServerOptions,
  parts: AdmissionParts,
  folder: string | undefined,
  { plugin, kinds, compile }: ManifestUse<T>,
): Promise<StaticObjects<T> | undefined> {
  if (folder === undefined || folder === "") return undefined;
  await checkFolder(folder, options);
  const { clock, log, vocabulary, allowPrivileged } = options;
  const { registry } = parts;
  const engine = {
    registry,
    vocabulary,
    clock,
    allowPrivileged,
    featureEnabled: featureGates(options).enabled,
  };
  const reader = { engine, programs: policyPrograms(options) };
  const counters = new ManifestCounters(plugin);
  const load = async () => {
    const { documents, hash } = await readFolder(folder);
    return { hash, objects: compile(await readManifests(documents, kinds, reader)) };
  };
  const first = await load();
  const objects = new StaticObjects(first.objects);
  const loaded = (hash: string): void => {
    counters.hash = hash;
    counters.reloads.add("success", clock.now());
  };
  loaded(first.hash);
  const changed = async (): Promise<void> => {
    const next = await load();
    if (next.hash === counters.hash) return;
    objects.replace(next.objects);
    loaded(next.hash);
    log.info({ plugin, folder }, `${fieldName}: the changed files are in use`);
  };
  const failed = (error: unknown): void => {
    counters.reloads.add("failure", clock.now());
    const reason = error instanceof ConfigurationError ? error.message : stackOf(error);
    log.error(
      { plugin, error: reason },
      `${fieldName}: the changed files can't be used; keeping the previous ones`,
    );
  };
  const watch = new FileWatch(() => watchedFiles(folder), clock, changed, failed);
  await watch.start();
  parts.webhooks.closeLater(watch);
  // The files may have changed before the watch started.
  await changed();
  parts.manifests.push(counters);
  return objects;
}

async function checkFolder(folder: string, options: ServerOptions): Promise<void> {
  const value = `${fieldName}: ${JSON.stringify(folder)}`;
  if (!featureGates(options).enabled(gate)) {
    throw new ConfigurationError(
      `${value}: needs the feature gate ${gate}, which releases from 1.36 on have (on by default from 1.37 on)`,
    );
  }
  if (!path.isAbsolute(folder)) throw new ConfigurationError(`${value}: must be an absolute path`);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    (error: unknown) => {
      throw new ConfigurationError(`${value}: ${whyUnreadable(error)}`, { cause: error });
    },
  );
  if (!isFolder) throw new ConfigurationError(`${value}: must be a folder`);
}

/** Returns the manifest files of a folder, sorted. @throws the error of the file system. */
async function manifestFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && extensions.has(path.extname(entry.name).toLowerCase()))
    .map(({ name }) => path.join(folder, name))
    .toSorted();
}

/** The files whose changes matter; a folder that can't be read is a change too. */
async function watchedFiles(folder: string): Promise<string[]> {
  try {
    return [folder, ...(await manifestFiles(folder))];
  } catch {
    return [path.join(folder, "unreadable")];
  }
}

/** @throws {ConfigurationError} a file can't be read or parsed. */
async function readFolder(
  folder: string,
): Promise<{ readonly documents: readonly ManifestDocument[]; readonly hash: string }> {
  const files = await manifestFiles(folder).catch((error: unknown) => {
    throw new ConfigurationError(`${folder}: ${whyUnreadable(error)}`, { cause: error });
  });
  const documents: ManifestDocument[] = [];
  const hash = createHash("sha256");
  let total = 0;
  for (const file of files) {
    const bytes = await readManifest(file, maxBytes - total);
    if (bytes.length === 0) continue;
    total += bytes.length;
    hash.update(bytes).update("\0");
    for (const document of await documentsOf(file, bytes)) documents.push({ file, document });
  }
  return { documents, hash: total === 0 ? "" : `sha256:${hash.digest("hex")}` };
}

async function readManifest(file: string, remaining: number): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size <= remaining) return await readFile(file);
  } catch (error) {
    throw new ConfigurationError(`${file}: ${whyUnreadable(error)}`, { cause: error });
  }
  throw new ConfigurationError(`${file}: the files of ${fieldName} may have at most ${maxBytes} bytes`);
}

async function documentsOf(file: string, bytes: Buffer) {
  try {
    return await decodeDocuments(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    throw new ConfigurationError(`${file}: can't be parsed: ${error.message}`, { cause: error });
  }
}
