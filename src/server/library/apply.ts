import { type Manifest, manifestsIn, readManifests } from "../../base/manifests.ts";
import { decodeJson } from "../../base/json/decode.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { StatusError } from "../../base/status-error.ts";
import { decodeDocuments } from "../../base/yaml/yaml-documents.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { ApplyOptions } from "./server-client.ts";

/** Applies objects in order; see {@link ServerClient.apply}. */
export async function applyAll(
  client: Pick<Client, "applyObject">,
  source: object | readonly object[] | string,
  options: ApplyOptions,
): Promise<ApiObject[]> {
  const applied: ApiObject[] = [];
  for (const manifest of await manifestsOf(source)) applied.push(await applyOne(client, manifest, options));
  return applied;
}

/** Applies a manifest. @throws {StatusError} whose message begins with the origin of the manifest. */
export async function applyOne(
  client: Pick<Client, "applyObject">,
  { origin, document }: Manifest,
  { fieldManager, force, dryRun, namespace }: ApplyOptions,
): Promise<ApiObject> {
  try {
    return await client.applyObject(document, {
      fieldManager: fieldManager ?? "plinth",
      force: force ?? false,
      dryRun: dryRun ?? false,
      namespace: namespace ?? "default",
    });
  } catch (error) {
    throw origin === "" ? error : withOrigin(origin, error);
  }
}

/**
 * Reads the objects of a source: an object, a list of objects, the text of manifests, or the path of a file or folder. The objects of a
 * `List` replace it.
 *
 * @throws {StatusError} BadRequest if the source can't be read.
 */
export async function manifestsOf(source: object | readonly object[] | string): Promise<Manifest[]> {
  if (typeof source !== "string") {
    const objects = Array.isArray(source) ? source : [source];
    const documents = objects.map((one) => decodeJson(Buffer.from(JSON.stringify(one) ?? "null")));
    return manifestsIn("", "object", documents);
  }
  // A single line is no manifest, unless it is JSON or YAML in flow style.
  if (!/^\s*[{[]/.test(source) && !source.includes("\n")) return fileManifests([source]);
  try {
    return manifestsIn("", "document", await decodeDocuments(Buffer.from(source)));
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    throw new StatusError("BadRequest", `neither YAML nor JSON: ${error.message}`);
  }
}

/**
 * Reads the manifests of files, and of the .yaml, .yml and .json files of folders in the order of their names.
 *
 * @throws {StatusError} BadRequest if a file can't be read.
 */
export async function fileManifests(paths: readonly string[]): Promise<Manifest[]> {
  const all: Manifest[] = [];
  const readInput = () => Promise.reject(new StatusError("BadRequest", "- is not the path of a file"));
  for await (const { name, documents, fault } of readManifests(paths, { recursive: false, readInput })) {
    if (fault !== undefined) throw new StatusError("BadRequest", `${name}: ${fault}`);
    all.push(...manifestsIn(name, "document", documents));
  }
  return all;
}

/** Returns an error with the same reason whose message begins with an origin. */
export function withOrigin(origin: string, error: unknown): unknown {
  if (!(error instanceof StatusError)) return error;
  return new StatusError(error.reason, `${origin}: ${error.message}`, error.details, { cause: error });
}
