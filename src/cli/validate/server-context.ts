import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { mayBeContext } from "../../server/validation/context.ts";
import type { ManifestObject } from "../../server/validation/documents.ts";
import type { Access } from "../client/access.ts";
import { ClientError } from "../client/client-error.ts";
import { ResourceTable, type KnownResource } from "../client/resource-table.ts";
import { ServerClient } from "../client/server-client.ts";

/** Kinds to which manifests may refer; only their names are read. */
const namedKinds = new Set([
  "ConfigMap",
  "Secret",
  "Service",
  "PersistentVolumeClaim",
  "Deployment",
  "StatefulSet",
]);
const pageSize = 500;

/**
 * Reads from a running server what decides about manifests: definitions, namespaces, policies, roles, quotas, limit ranges, classes and
 * service accounts, and the names of what they may refer to. Kinds that the user may not list are left out.
 *
 * @param warn called with a message for each of these kinds.
 * @throws {ClientError} if the server can't be reached.
 */
export async function contextOfServer(
  access: Access,
  warn: (text: string) => void,
): Promise<ManifestObject[]> {
  const client = new ServerClient(access);
  try {
    const table = await ResourceTable.read(client);
    const objects: ManifestObject[] = [];
    for (const resource of table.resources) {
      const { kind, verbs, groupVersion, name } = resource;
      if (!verbs.includes("list") || !(mayBeContext(kind) || namedKinds.has(kind))) continue;
      try {
        for (const value of await listAll(client, resource, namedKinds.has(kind)))
          objects.push({ value, duplicates: [], start: undefined, locate: undefined });
      } catch (error) {
        if (!(error instanceof ClientError) || error.status !== 403) throw error;
        warn(`the ${name} of ${groupVersion} are left out: ${error.message}`);
      }
    }
    return objects;
  } finally {
    client.close();
  }
}

/**
 * Lists the objects of a resource type, in pages.
 *
 * @param onlyNames whether only their metadata is read.
 * @throws {ClientError}
 */
export async function listAll(
  client: ServerClient,
  { groupVersion, name, kind }: KnownResource,
  onlyNames: boolean,
): Promise<JsonObject[]> {
  const base = groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
  const objects: JsonObject[] = [];
  for (let token: string | undefined = ""; token !== undefined;) {
    const path: string = `${base}/${name}?limit=${pageSize}${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`;
    const list = (await (onlyNames ? client.listMetadata(path) : client.get(path))) as JsonObject;
    const { items, metadata } = list;
    for (const item of Array.isArray(items) ? (items as JsonValue[]) : [])
      if (isObject(item)) objects.push({ ...item, apiVersion: groupVersion, kind });
    const next = isObject(metadata) ? metadata["continue"] : undefined;
    token = typeof next === "string" && next !== "" && next !== token ? next : undefined;
  }
  return objects;
}
