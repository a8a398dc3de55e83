import { decodeJson } from "../../base/json/decode.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { isObject, type JsonObject } from "../../base/json/value.ts";
import { asContext } from "../../server/validation/context.ts";
import { nameOf, objectAt, textOf, type ManifestObject } from "../../server/validation/documents.ts";
import type { SourceEntry } from "../../server/validation/sources.ts";
import type { ValidationSources } from "../../server/validation/validate.ts";
import { labelKey } from "../../vocabulary/names.ts";
import { vocabularies } from "../../vocabulary/vocabularies.ts";
import type { Access } from "../client/access.ts";
import { ClientError } from "../client/client-error.ts";
import { ResourceTable } from "../client/resource-table.ts";
import { ServerClient } from "../client/server-client.ts";
import { listAll } from "../validate/server-context.ts";

/** Kinds whose objects programs write all the time, in the version that they know. */
const transientKinds = new Set(["Event", "Lease", "EndpointSlice", "Endpoints", "ControllerRevision"]);
/** Annotations with the manifest that kubectl has applied. */
const appliedKeys = vocabularies.map(({ domain }) =>
  labelKey(domain, "last-applied-configuration", "kubectl"),
);

/**
 * Returns the objects of a running server, as they were applied if they say so: the server has them in the newest version. Objects that
 * have an owner are left out, because their controller writes them.
 *
 * @param warn called with a message for each kind that the user may not list.
 * @throws {ClientError} if the server can't be reached.
 */
export async function objectsOfServer(
  access: Access,
  warn: (text: string) => void,
): Promise<ValidationSources["entries"]> {
  const client = new ServerClient(access);
  const objects: ManifestObject[] = [];
  try {
    const table = await ResourceTable.read(client);
    for (const resource of table.resources) {
      const { verbs, kind, name, groupVersion } = resource;
      if (!verbs.includes("list") || !verbs.includes("create") || transientKinds.has(kind)) continue;
      try {
        for (const object of await listAll(client, resource, false)) {
          if (objectAt(object, "metadata")?.["ownerReferences"] !== undefined) continue;
          objects.push(entryOf(appliedForm(object)));
        }
      } catch (error) {
        if (!(error instanceof ClientError) || error.status !== 403) throw error;
        warn(`the ${name} of ${groupVersion} are left out: ${error.message}`);
      }
    }
  } finally {
    client.close();
  }
  return async function* entries(_decoded, contextOnly): AsyncGenerator<SourceEntry> {
    if (!contextOnly) for (const object of objects) yield { object };
  };
}

function entryOf(value: JsonObject): ManifestObject {
  const object = { value, duplicates: [], start: undefined, locate: undefined };
  return { ...object, value: asContext(object) };
}

/** Returns the manifest that kubectl has applied; the object itself without one. */
function appliedForm(object: JsonObject): JsonObject {
  const annotations = objectAt(object, "metadata", "annotations") ?? {};
  const text = appliedKeys.map((key) => textOf(annotations[key])).find((one) => one !== "");
  if (text === undefined) return object;
  try {
    const { value } = decodeJson(Buffer.from(text));
    return isObject(value) && nameOf(value).kind !== "" ? value : object;
  } catch (error) {
    // Users may write the annotation.
    if (error instanceof SyntaxFault) return object;
    throw error;
  }
}

const metricsTimeoutMs = 10_000;
const maxMetricsBytes = 32 * 1024 * 1024;
const requestedSeries = /^apiserver_requested_deprecated_apis\{([^}]*)\} [1-9]/;

/**
 * Returns a line for each deprecated version that clients have requested since the server started, from its metrics.
 *
 * @param warn called with a message if the user may not read them.
 */
export async function deprecatedRequests(access: Access, warn: (text: string) => void): Promise<string[]> {
  const client = new ServerClient(access);
  try {
    const { status, text } = await client.text("/metrics", metricsTimeoutMs, maxMetricsBytes);
    if (status !== 200) {
      warn(`the metrics of the server are left out: it answers ${status}`);
      return [];
    }
    return text.split("\n").flatMap((line) => {
      const labels = requestedSeries.exec(line)?.[1];
      if (labels === undefined) return [];
      const pairs = labels.split('",').map((pair) => pair.replace(/"$/, "").split('="', 2));
      const values = new Map(pairs.map(([name = "", value = ""]) => [name, value]));
      const label = (name: string) => values.get(name) ?? "";
      const version = [label("group"), label("version")].filter((part) => part !== "").join("/");
      const removed =
        label("removed_release") === "" ? "" : `, which is removed in ${label("removed_release")}`;
      return [`clients still request ${label("resource")} of ${version}${removed}; the audit log names them`];
    });
  } finally {
    client.close();
  }
}
