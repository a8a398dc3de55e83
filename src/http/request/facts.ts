import { connectingSubresources } from "../../kinds/connecting-subresources.ts";
import { decodePath, segmentsOf } from "./path.ts";

/** What a request is about, read from method and path alone (spec: conventions 4.1, 4.2). */
export type RequestFacts = ResourceFacts | PathFacts;

export interface ResourceFacts {
  readonly kind: "resource";
  /** Without percent-encodings. */
  readonly path: string;
  /** As it was sent. */
  readonly sentPath: string;
  /**
   * Whether the path begins with `/api/<version>/` or `/apis/<group>/<version>/`. Other paths with the same segments, as
   * `//api/v1/pods`, are authorized as the resource, and nothing is found there.
   */
  readonly atVersion: boolean;
  /** API verb; empty for a method that stands for none. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Segments after the subresource, as for proxies; empty when there are none. */
  readonly rest: string;
  readonly namespace: string;
  /** Whether the path has `namespaces` with an empty name, as `/api/v1/namespaces//pods`: it is of all namespaces. */
  readonly emptyNamespace: boolean;
  readonly name: string;
  /**
   * The verb that stands in the path, as in `/api/v1/watch/pods`: the form before there was a parameter for it. No path with
   * `proxy` is served any more. Empty for all other paths.
   */
  readonly pathVerb: "" | PathVerb;
  readonly query: Query;
}

export type PathVerb = "watch" | "proxy";

/** A path outside the resources: discovery, health, version, … */
export interface PathFacts {
  readonly kind: "path";
  /** Without percent-encodings: what authorization is asked about is what is served. */
  readonly path: string;
  /** HTTP method in lower case. */
  readonly verb: string;
  readonly query: Query;
}

/** Query parameters; the first value of each name counts, but where a parameter may be repeated. */
export class Query {
  private parsed: URLSearchParams | undefined;
  constructor(private readonly text: string) {}

  get empty(): boolean {
    return this.text === "";
  }

  /** The first value, or undefined when the parameter isn't there. */
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

/** The facts of a request whose method and path were not read, or can't be. */
export const unreadFacts: RequestFacts = { kind: "path", path: "", verb: "", query: noQuery };

/** Subresources of a namespace itself; any other segment there is a resource type inside the namespace. */
const namespaceSubresources = new Set(["status", "finalize"]);
const pathVerbs = new Set<string>(["watch", "proxy"] satisfies PathVerb[]);

/**
 * Reads the facts of a request. Empty segments are names like others, as in the reference: authorization is asked about an empty
 * namespace, which stands for all of them, or an empty name.
 *
 * @throws {StatusError} BadRequest for what is no path, and for a path with broken percent-encoding.
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

/** @param prefix how many segments stand before the resources: the group's and the version's. */
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

/** A boolean parameter as the field's clients write it: given and neither `false` nor `0` is true. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && value !== "0" && value.toLowerCase() !== "false";
}

/** Whether a request is for a connection to a pod, a service or a node. */
export function isConnection(facts: RequestFacts): boolean {
  return (
    facts.kind === "resource" && facts.subresource !== "" && connectingSubresources.has(facts.subresource)
  );
}

/** Whether a request goes on until somebody ends it: a watch or a connection. */
export function isLongRunning(facts: RequestFacts): boolean {
  return facts.kind === "resource" && (facts.verb === "watch" || isConnection(facts));
}
