import { parseEmbeddedJson } from "../base/json/embedded.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/json/value.ts";

/** A resource type in the discovery document of an extension server. */
export interface PublishedResource {
  /** Name in paths: `widgets`, or `widgets/status`. */
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  /** Group and version of the kind, if they differ from those of the document. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** Maximum number of resource types per group version; further ones are ignored. */
const maxResources = 1000;

/**
 * Parses the discovery document of a group version (`APIResourceList`). Returns undefined if it is malformed or for another group
 * version. Skips entries without a name, a kind or verbs.
 */
export function readPublishedResources(
  text: string,
  groupVersion: string,
): readonly PublishedResource[] | undefined {
  let document: JsonValue;
  try {
    document = parseEmbeddedJson(text);
  } catch {
    return undefined;
  }
  if (!isObject(document) || document["kind"] !== "APIResourceList") return undefined;
  const resources = document["resources"];
  if (document["groupVersion"] !== groupVersion || !Array.isArray(resources)) return undefined;
  return resources.slice(0, maxResources).flatMap((one) => {
    const read = isObject(one) ? readResource(one) : undefined;
    return read === undefined ? [] : [read];
  });
}

function readResource(value: JsonObject): PublishedResource | undefined {
  const name = textIn(value, "name");
  const kind = textIn(value, "kind");
  const verbs = textsIn(value, "verbs");
  if (name === undefined || kind === undefined || verbs === undefined) return undefined;
  const group = textIn(value, "group");
  const version = textIn(value, "version");
  const shortNames = textsIn(value, "shortNames");
  const categories = textsIn(value, "categories");
  return {
    name,
    kind,
    verbs,
    singularName: textIn(value, "singularName") ?? "",
    namespaced: value["namespaced"] === true,
    ...(group === undefined ? {} : { group }),
    ...(version === undefined ? {} : { version }),
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(categories === undefined ? {} : { categories }),
  };
}

function textIn(value: JsonObject, name: string): string | undefined {
  const text = value[name];
  return typeof text === "string" && text !== "" ? text : undefined;
}

function textsIn(value: JsonObject, name: string): readonly string[] | undefined {
  const texts = value[name];
  return Array.isArray(texts) && texts.every((one) => typeof one === "string")
    ? (texts as string[])
    : undefined;
}
