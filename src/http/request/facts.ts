import { connectingSubresources } from "../../kinds/connecting-subresources.ts";
import { decodePath, segmentsOf } from "./path.ts";

/** The attributes of a request from its method and URL alone (spec: conventions 4.1, 4.2). */
export type RequestFacts = ResourceFacts | PathFacts;

export interface ResourceFacts {
  readonly kind: "resource";
  /** Without percent-encodings. */
  readonly path: string;
  /** As sent by the client. */
  readonly sentPath: string;
  /**
   * Whether the path begins with `/api/<version>/` or `/apis/<group>/<version>/`. Paths with further slashes, such as
   * `//api/v1/pods`, are authorized like the path without them, and answered with 404.
   */
  readonly atVersion: boolean;
  /** API verb; empty for a method without one. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Segments after the subresource, such as the path for a proxy; empty if there are none. */
  readonly rest: string;
  readonly namespace: string;
  /** Whether the path contains `namespaces` with an empty name, such as `/api/v1/namespaces//pods`, which means all namespaces. */
  readonly emptyNamespace: boolean;
  readonly name: string;
  /**
   * The verb in a path such as `/api/v1/watch/pods`, the deprecated form of the parameter `watch`. Paths with `proxy` are not served.
   * Empty for all other paths.
   */
  readonly pathVerb: "" | PathVerb;
  readonly query: Query;
}

export type PathVerb = "watch" | "proxy";

/** A request for a non-resource path: discovery, health, version, … */
export interface PathFacts {
  readonly kind: "path";
  /** Without percent-encodings, so that the authorized path is the served one. */
  readonly path: string;
  /** HTTP method in lower case. */
  readonly verb: string;
  readonly query: Query;
}

/** Query parameters. Of a repeated parameter the first value is used, except for parameters that may have several values. */
export class Query {
  private parsed: URLSearchParams | undefined;
  constructor(private readonly text: string) {}

  get empty(): boolean {
    return this.text === "";
  }

  /** The first value; undefined if the parameter is missing. */
  get(name: string): string | undefined {
    return this.text === "" ? undefined : (this.params.get(name) ?? undefined);
  }

  all(name: string): string[] {
    return this.text === "" ? [] : this.params.getAll(name);
  }

  private get params(): URLSearchParams {
    return (this.parsed ??= new URLSearchParams(this.text));
  }
}

const noQuery = new Query("");

/** The attributes of a request whose method and URL aren't read yet, or are invalid. */
export const unreadFacts: RequestFacts = { kind: "path", path: "", verb: "", query: noQuery };

/** Subresources of a Namespace; any other segment after its name is a resource type in the namespace. */
const namespaceSubresources = new Set(["status", "finalize"]);
const pathVerbs = new Set<string>(["watch", "proxy"] satisfies PathVerb[]);

/**
 * Reads the attributes of a request. As in the reference, an empty segment is an empty name, and authorization decides about it: an
 * empty namespace means all namespaces.
 *
 * @throws {StatusError} BadRequest for a text that isn't a path, and for invalid percent-encoding.
 */
export function readFacts(method: string, url: string): RequestFacts {
  const mark = url.indexOf("?");
  const sentPath = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? noQuery : new Query(url.slice(mark + 1));
  const path = decodePath(sentPath);
  const segments = segmentsOf(path);
  const prefix = segments[0] === "api" ? 2 : segments[0] === "apis" ? 3 : Infinity;
  return segments.length > prefix
    ? resourceFacts(method, path, sentPath, query, segments, prefix)
    : { kind: "path", path, verb: method.toLowerCase(), query };
}

/** @param prefix number of segments before the resource type: `api` and the version, or `apis`, the group and the version. */
function resourceFacts(
  method: string,
  path: string,
  sentPath: string,
  query: Query,
  segments: readonly string[],
  prefix: number,
): ResourceFacts {
  const hasVerb = pathVerbs.has(segments[prefix]!) && segments.length > prefix + 1;
  const pathVerb = hasVerb ? (segments[prefix] as PathVerb) : "";
  const start = hasVerb ? prefix + 1 : prefix;
  const inNamespace = segments[start] === "namespaces" && segments.length > start + 1;
  const isBelow =
    inNamespace && segments.length > start + 2 && !namespaceSubresources.has(segments[start + 2]!);
  const at = isBelow ? start + 2 : start;
  const name = segments[at + 1] ?? "";
  const namespace = inNamespace ? segments[start + 1]! : "";
  return {
    kind: "resource",
    path,
    sentPath,
    atVersion: isAtVersion(path, segments, prefix),
    verb: pathVerb === "" ? verbOf(method, name, query) : pathVerb,
    group: prefix === 2 ? "" : segments[1]!,
    version: segments[prefix - 1]!,
    resource: segments[at]!,
    name,
    namespace,
    emptyNamespace: inNamespace && namespace === "",
    subresource: pathVerb === "proxy" ? "" : (segments[at + 2] ?? ""),
    rest: segments.length <= at + 3 ? "" : segments.slice(at + 3).join("/"),
    pathVerb,
    query,
  };
}

function isAtVersion(path: string, segments: readonly string[], prefix: number): boolean {
  if (path.startsWith("//")) return false;
  return !path.includes("//") || !segments.slice(1, prefix).includes("");
}

function verbOf(method: string, name: string, query: Query): string {
  switch (method) {
    case "GET":
    case "HEAD":
      if (name !== "") return "get";
      return isTrue(query.get("watch")) ? "watch" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === "" ? "deletecollection" : "delete";
    default:
      // Over HTTP/2 a method can be any text, and must not choose a verb: LIST of one name would list all names.
      return "";
  }
}

/** Parses a boolean parameter as Kubernetes does: every value except `false` and `0` is true, also the empty one. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && value !== "0" && value.toLowerCase() !== "false";
}

/** Whether a request is for a connection to a pod, a service or a node. */
export function isConnection(facts: RequestFacts): boolean {
  return (
    facts.kind === "resource" && facts.subresource !== "" && connectingSubresources.has(facts.subresource)
  );
}

/** Whether a request lasts until one side ends it: a watch or a connection. */
export function isLongRunning(facts: RequestFacts): boolean {
  return facts.kind === "resource" && (facts.verb === "watch" || isConnection(facts));
}
