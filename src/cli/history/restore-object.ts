import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { ClientError } from "../client/client-error.ts";
import type { Flag } from "../flags/flag.ts";
import type { FlagReader } from "../flags/flag-reader.ts";
import { connected, type Connection } from "../client/connection.ts";
import { collectionPath, memberOf, NamedObject, objectFlags } from "./named-object.ts";

/** Flags of `plinth restore KIND NAME`. */
export const restoreObjectFlags: readonly Flag[] = [
  {
    name: "at",
    type: "string",
    default: "",
    doc: "With KIND and NAME: restore the state of a time, such as 2026-11-24T10:00:00Z, or of a resource version; the default is the last state of a deleted object.",
  },
  {
    name: "dry-run",
    type: "boolean",
    default: "",
    doc: "With KIND and NAME: run all checks and write nothing.",
  },
  ...objectFlags,
];

/** Members of the metadata that the server sets, or that belong to the deletion. */
const serverSet = [
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "selfLink",
  "managedFields",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
];
/** Finalizers with which the garbage collector deletes an object. */
const ofDeletion: ReadonlySet<JsonValue> = new Set(["foregroundDeletion", "orphan"]);

/**
 * Brings a past state of an object back: creates the object, or updates it if it exists. It needs today's right to create or update it.
 *
 * @throws {UsageError} @throws {ClientError}
 */
export async function restoreObject(read: FlagReader, names: readonly string[]): Promise<number> {
  const at = read.optional("at");
  const isDryRun = read.boolean("dry-run") === true;
  const lines = await connected(read, async (connection) => {
    const named = NamedObject.of(connection, names, "plinth restore");
    const live = await named.read();
    const state = await stateToRestore(named, live, at);
    const notes: string[] = [];
    const object = await restorable(connection, state, notes);
    const query = `?fieldManager=plinth${isDryRun ? "&dryRun=All" : ""}`;
    if (live === undefined) await named.client.post(`${named.collection}${query}`, object);
    else await named.client.put(`${named.path}${query}`, overLive(object, live));
    const done = live === undefined ? "created" : "updated";
    return [...notes, `${named.text} ${done}${isDryRun ? " (dry run: nothing was written)" : ""}`];
  });
  process.stdout.write(`${lines.join("\n")}\n`);
  return 0;
}

async function stateToRestore(
  named: NamedObject,
  live: JsonObject | undefined,
  at: string | undefined,
): Promise<JsonObject> {
  if (at !== undefined) {
    const state = await named.read(at);
    if (state === undefined) throw new ClientError(`${named.text} did not exist at ${at}`);
    return state;
  }
  if (live !== undefined)
    throw new ClientError(`${named.text} exists; choose the state to restore with --at=TIME or --at=VERSION`);
  const [newest] = await named.versions(1, true);
  if (newest?.object !== undefined) return newest.object;
  throw new ClientError(`${named.text}: ${newest?.error ?? "the history has no state of it"}`);
}

/** Returns a past state as an object to write. @param notes receives a line for each owner that changed. */
async function restorable(connection: Connection, state: JsonObject, notes: string[]): Promise<JsonObject> {
  const { status: _status, ...rest } = state;
  const metadata = { ...memberOf(state, "metadata") };
  for (const name of serverSet) delete metadata[name];
  const { finalizers, ownerReferences } = metadata;
  if (Array.isArray(finalizers)) metadata["finalizers"] = finalizers.filter((one) => !ofDeletion.has(one));
  if (Array.isArray(ownerReferences)) {
    const owners: JsonObject[] = [];
    for (const reference of ownerReferences.filter(isObject)) {
      const owner = await presentOwner(connection, reference, String(metadata["namespace"] ?? ""));
      const text = `owner ${String(reference["kind"]).toLowerCase()} ${JSON.stringify(reference["name"])}`;
      if (owner === undefined) notes.push(`${text} no longer exists; the reference to it is dropped`);
      else if (owner["uid"] !== reference["uid"])
        notes.push(`${text} was created again; the reference is to the new one`);
      if (owner !== undefined) owners.push(owner);
    }
    metadata["ownerReferences"] = owners;
  }
  return { ...rest, metadata };
}

/** Returns an owner reference with the uid that the owner has now; undefined if there is no such object. */
async function presentOwner(
  { client, table }: Connection,
  reference: JsonObject,
  namespace: string,
): Promise<JsonObject | undefined> {
  const resource = table.ofKind(String(reference["apiVersion"]), String(reference["kind"]));
  if (resource === undefined) return undefined;
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(String(reference["name"]))}`;
  try {
    const owner = (await client.get(path)) as JsonObject;
    const { uid } = memberOf(owner, "metadata");
    return uid === undefined ? undefined : { ...reference, uid };
  } catch (error) {
    if (error instanceof ClientError && error.status === 404) return undefined;
    throw error;
  }
}

/** Returns an object as an update of the present one, which keeps its identity. */
function overLive(object: JsonObject, live: JsonObject): JsonObject {
  const { uid, resourceVersion } = memberOf(live, "metadata");
  return {
    ...object,
    metadata: { ...memberOf(object, "metadata"), uid: uid!, resourceVersion: resourceVersion! },
  };
}
