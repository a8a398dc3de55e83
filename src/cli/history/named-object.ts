import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { accessFlags } from "../client/access-flags.ts";
import { ClientError } from "../client/client-error.ts";
import type { Connection } from "../client/connection.ts";
import type { ResourceTable, KnownResource } from "../client/resource-table.ts";
import type { ServerClient } from "../client/server-client.ts";
import type { Flag } from "../flags/flag.ts";
import { UsageError } from "../flags/flag-reader.ts";

/** Flags of the commands about the history of objects. */
export const objectFlags: readonly Flag[] = [
  {
    name: "namespace",
    short: "n",
    type: "string",
    default: "",
    doc: "Namespace of the object; the default is that of the context, otherwise default.",
  },
  ...accessFlags,
];

/** A version of an object, as the server lists it. */
export interface ListedVersion {
  readonly metadata: { readonly resourceVersion: string };
  readonly time?: string;
  readonly user?: string;
  readonly manager?: string;
  readonly verb?: string;
  readonly auditID?: string;
  readonly deleted?: boolean;
  readonly previousVersion?: string;
  readonly object?: JsonObject;
  readonly error?: string;
}

/** An object of a server, by kind and name; it may be deleted. */
export class NamedObject {
  private constructor(
    readonly client: ServerClient,
    readonly resource: KnownResource,
    /** Path of the collection. */
    readonly collection: string,
    readonly name: string,
  ) {}

  /**
   * Finds the resource type of a command's words `KIND NAME`.
   *
   * @throws {UsageError} other words, or a kind that the server doesn't have.
   */
  static of(
    { client, table, namespace }: Connection,
    words: readonly string[],
    command: string,
  ): NamedObject {
    const [kind, name, ...more] = words;
    if (kind === undefined || name === undefined || more.length > 0)
      throw new UsageError(`${command} needs KIND and NAME, such as: ${command} configmap settings`);
    const resource = resourceCalled(table, kind);
    return new NamedObject(client, resource, collectionPath(resource, namespace), name);
  }

  get path(): string {
    return `${this.collection}/${encodeURIComponent(this.name)}`;
  }

  /** Kind and name, for messages. */
  get text(): string {
    return `${this.resource.kind.toLowerCase()} ${JSON.stringify(this.name)}`;
  }

  /** Returns the object now, or at a time or resource version; undefined if it doesn't exist. */
  async read(at?: string): Promise<JsonObject | undefined> {
    try {
      const query = at === undefined ? "" : `?at=${encodeURIComponent(at)}`;
      return (await this.client.get(`${this.path}${query}`)) as JsonObject;
    } catch (error) {
      if (error instanceof ClientError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Returns versions, newest first. @param contents whether with their objects. */
  async versions(limit: number, contents: boolean): Promise<readonly ListedVersion[]> {
    const versions: ListedVersion[] = [];
    let token = "";
    do {
      const query = new URLSearchParams({ limit: String(Math.min(100, limit - versions.length)) });
      if (contents) query.set("contents", "true");
      if (token !== "") query.set("continue", token);
      const list = await this.client.get(`${this.path}/history?${query.toString()}`);
      const { items, metadata } = list as unknown as {
        items: readonly ListedVersion[];
        metadata: { continue?: string };
      };
      versions.push(...items);
      token = metadata.continue ?? "";
    } while (token !== "" && versions.length < limit);
    return versions;
  }
}

/** @throws {UsageError} the server has no such kind. */
export function resourceCalled(table: ResourceTable, word: string): KnownResource {
  const { known } = table.find(word);
  if (known !== undefined) return known;
  throw new UsageError(`the server has no kind ${JSON.stringify(word)}`);
}

/** Path of a collection; of all namespaces if none is given. */
export function collectionPath({ groupVersion, name, namespaced }: KnownResource, namespace: string): string {
  const version = `/${groupVersion.includes("/") ? "apis" : "api"}/${groupVersion}`;
  const within = namespaced && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${version}${within}/${name}`;
}

/** Returns the member of an object that is itself an object; an empty one for other values. */
export function memberOf(object: JsonObject, name: string): JsonObject {
  const value: JsonValue | undefined = object[name];
  return isObject(value) ? value : {};
}
