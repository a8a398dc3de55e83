import { apiGroup } from "../vocabulary/names.ts";
import { parseEmbeddedJson } from "../base/json/embedded.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/json/value.ts";
import { RemoteFault, type RemoteAnswer } from "../remote/answer-reader.ts";
import type { ObjectMetaValue } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { ApiServices } from "./api-services.ts";
import { identityHeaders, type ForwardedIdentity } from "./identity.ts";
import type { PublishedResource } from "./published-resources.ts";
import type { RemoteApiService } from "./remote-api-service.ts";

/** Timeout of one call. */
const callMs = 5000;
/** Number of objects of a page. */
const pageSize = 500;

/** The API services, as far as their objects are concerned. */
export type RemoteServices = Pick<ApiServices, "find" | "list" | "revision" | "callsEnded">;

/** A page of a list: the metadata of its objects. */
export interface RemotePage {
  readonly items: readonly ObjectMetaValue[];
  /** The token for the next page; undefined for the last one. */
  readonly next: string | undefined;
  /** Number of objects after the page, if the server tells it. */
  readonly remaining: number;
}

/** The objects of one resource type of an extension server, as one of this server's controllers reads and deletes them. */
export class RemoteObjects {
  readonly group: string;
  private readonly identity: ForwardedIdentity;
  private readonly accept: string;

  /** @param controller name of the service account whose rights the controller has. */
  constructor(
    readonly remote: RemoteApiService,
    readonly resource: PublishedResource,
    { systemNamespace, systemPrefix, groupSuffix }: Vocabulary,
    controller: string,
  ) {
    this.group = remote.group;
    const accounts = `${systemPrefix}serviceaccounts`;
    this.identity = identityHeaders({
      name: `${systemPrefix}serviceaccount:${systemNamespace}:${controller}`,
      uid: "",
      groups: [accounts, `${accounts}:${systemNamespace}`, `${systemPrefix}authenticated`],
      extra: {},
    });
    this.accept = `application/json;as=PartialObjectMetadataList;g=${apiGroup(groupSuffix, "meta")};v=v1,application/json`;
  }

  allows(verb: string): boolean {
    return this.resource.verbs.includes(verb);
  }

  /**
   * Reads a page of the objects of a namespace, or of all namespaces if it is empty.
   *
   * @throws {RemoteFault} the server can't be reached or refuses, or its answer is too large or no list.
   */
  async list(namespace: string, after?: string): Promise<RemotePage> {
    const query = new URLSearchParams({ limit: String(pageSize), ...(after && { continue: after }) });
    const answer = await this.call("GET", `${this.pathOf(namespace)}?${query}`);
    const document = this.read(answer);
    const items = document["items"] ?? [];
    if (!Array.isArray(items)) throw this.fault("the answer is not a list");
    const metadata = isObject(document["metadata"]) ? document["metadata"] : {};
    const { continue: next, remainingItemCount: remaining } = metadata;
    return {
      items: items.flatMap((item) => (isObject(item) ? [metadataIn(item)] : [])),
      next: typeof next === "string" && next !== "" ? next : undefined,
      remaining: typeof remaining === "number" ? remaining : 0,
    };
  }

  /** Returns the metadata of an object; undefined if it doesn't exist. @throws {RemoteFault} as {@link list}. */
  async find(namespace: string, name: string): Promise<ObjectMetaValue | undefined> {
    const answer = await this.call("GET", this.pathOf(namespace, name), { missing: true });
    return answer.status === 404 ? undefined : metadataIn(this.read(answer));
  }

  /** Deletes all objects of a namespace. @throws {RemoteFault} as {@link list}. */
  async deleteCollection(namespace: string): Promise<void> {
    await this.call("DELETE", this.pathOf(namespace), { body: deleteOptions() });
  }

  /** Deletes an object with its uid; does nothing if there is none. @throws {RemoteFault} as {@link list}. */
  async delete({ namespace = "", name = "", uid }: ObjectMetaValue): Promise<void> {
    const body = deleteOptions(uid);
    await this.call("DELETE", this.pathOf(namespace, name), { body, missing: true });
  }

  /** Replaces the owner references of an object, unless it was changed meanwhile. @throws {RemoteFault} as {@link list}. */
  async setOwners(
    { namespace = "", name = "", uid, resourceVersion }: ObjectMetaValue,
    ownerReferences: ObjectMetaValue["ownerReferences"],
  ): Promise<void> {
    const body = { metadata: { uid, resourceVersion, ownerReferences } };
    const contentType = "application/merge-patch+json";
    await this.call("PATCH", this.pathOf(namespace, name), { body, contentType, missing: true });
  }

  private pathOf(namespace: string, name?: string): string {
    const scope = namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
    const object = name === undefined ? "" : `/${encodeURIComponent(name)}`;
    return `${this.remote.path}${scope}/${this.resource.name}${object}`;
  }

  /** @param missing whether the object may be absent or changed (404, 409). */
  private async call(
    method: "DELETE" | "GET" | "PATCH",
    path: string,
    {
      body,
      contentType = "application/json",
      missing = false,
    }: { readonly body?: object; readonly contentType?: string; readonly missing?: boolean } = {},
  ): Promise<RemoteAnswer> {
    const headers = {
      ...this.identity,
      accept: method === "GET" ? this.accept : "application/json",
      ...(body && { "content-type": contentType }),
    };
    const text = body && JSON.stringify(body);
    const answer = await this.remote.send(method, path, headers, text, callMs);
    const isMissing = answer.status === 404 || answer.status === 409;
    if (answer.status < 300 || (missing && isMissing)) return answer;
    throw this.fault(`${method} is answered with status ${answer.status}`);
  }

  private read({ bytes }: RemoteAnswer): JsonObject {
    let document: JsonValue;
    try {
      document = parseEmbeddedJson(bytes.toString("utf8"));
    } catch {
      throw this.fault("the answer is not JSON");
    }
    if (!isObject(document)) throw this.fault("the answer is not an object");
    return document;
  }

  private fault(problem: string): RemoteFault {
    return new RemoteFault(`${this.resource.name}.${this.group}: ${problem}`, true);
  }
}

function deleteOptions(uid?: string): object {
  return {
    kind: "DeleteOptions",
    apiVersion: "v1",
    propagationPolicy: "Background",
    ...(uid !== undefined && { preconditions: { uid } }),
  };
}

/** Reads the metadata that controllers use. Members that a server sends in another form count as absent. */
function metadataIn({ metadata }: JsonObject): ObjectMetaValue {
  if (!isObject(metadata)) return {} as ObjectMetaValue;
  const { finalizers, ownerReferences } = metadata;
  const texts = ["name", "namespace", "uid", "resourceVersion", "deletionTimestamp"].flatMap((name) => {
    const value = metadata[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  return {
    ...Object.fromEntries(texts),
    ...(Array.isArray(finalizers) && { finalizers: finalizers.filter((one) => typeof one === "string") }),
    ...(Array.isArray(ownerReferences) && { ownerReferences: ownerReferences.filter(isOwnerReference) }),
  } as ObjectMetaValue;
}

function isOwnerReference(value: JsonValue): boolean {
  return (
    isObject(value) && ["apiVersion", "kind", "name", "uid"].every((name) => typeof value[name] === "string")
  );
}

/**
 * Returns the resource types of the available extension servers that a controller can list and delete, each in the version that clients
 * prefer.
 */
export function deletableTypes(
  services: RemoteServices,
  vocabulary: Vocabulary,
  controller: string,
): readonly RemoteObjects[] {
  const types = new Map<string, RemoteObjects>();
  const records = [...services.list()].toSorted((a, b) => b.priority.version - a.priority.version);
  for (const { remote } of records) {
    if (remote === undefined || !remote.available) continue;
    // No request is forwarded for the groups that this server always serves itself.
    if (services.find(remote.group, remote.version) !== remote) continue;
    for (const resource of remote.resources ?? []) {
      const key = `${resource.name}.${remote.group}`;
      const isDeletable = ["list", "delete"].every((verb) => resource.verbs.includes(verb));
      if (resource.name.includes("/") || !isDeletable || types.has(key)) continue;
      types.set(key, new RemoteObjects(remote, resource, vocabulary, controller));
    }
  }
  return [...types.values()];
}

/** Returns the resource type of a kind of an available extension server, in the version that a reference names. */
export function typeOfKind(
  services: RemoteServices,
  vocabulary: Vocabulary,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  controller: string,
): RemoteObjects | undefined {
  const [group = "", version = ""] = apiVersion.split("/");
  const remote = services.find(group, version);
  if (remote === undefined || !remote.available) return undefined;
  const resource = remote.resources?.find(
    (one) => one.kind === kind && !one.name.includes("/") && one.verbs.includes("get"),
  );
  return resource && new RemoteObjects(remote, resource, vocabulary, controller);
}
