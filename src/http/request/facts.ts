import { connectingSubresources } from "../../kinds/connecting-subresources.ts";
import { StatusError } from "../../base/status-error.ts";

/** What a request is about, read from method and path alone (spec: conventions 4.1, 4.2). */
export type RequestFacts = ResourceFacts | PathFacts;

export interface ResourceFacts {
  readonly kind: "resource";
  /** As it was sent. */
  readonly path: string;
  /** API verb; empty for a method that stands for none. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Segments after the subresource, as for proxies; empty when there are none. */
  readonly rest: string;
  readonly namespace: string;
  readonly name: string;
  /** Whether the path itself asks for a watch, as `/api/v1/watch/pods`: the form before there was a parameter for it. */
  readonly watchPath: boolean;
  readonly query: Query;
}

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

/**
 * Reads the facts of a request.
 *
 * @throws {StatusError} BadRequest for what is no path, and for a path with broken percent-encoding.
 */
export function readFacts(method: string, url: string): RequestFacts {
  const mark = url.indexOf("?");
  const path = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? noQuery : new Query(url.slice(mark + 1));
  const segments = splitPath(path);
  const group = segments[0];
  if (group === "api" && segments.length > 2 && !hasGap(path, segments, 2)) {
    return resourceFacts(method, path, query, segments, 2);
  }
  if (group === "apis" && segments.length > 3 && !hasGap(path, segments, 3)) {
    return resourceFacts(method, path, query, segments, 3);
  }
  return { kind: "path", path: plainPath(path), verb: method.toLowerCase(), query };
}

/**
 * Whether one of the segments that say what is meant is empty: such a path leads to no resource. Nobody who leaves out a
 * namespace's name by mistake is to get all namespaces.
 *
 * @param prefix how many segments stand before the resources: the group's and the version's.
 */
function hasGap(path: string, segments: readonly string[], prefix: number): boolean {
  if (!path.includes("//")) return false;
  const start = isWatchPath(segments, prefix) ? prefix + 1 : prefix;
  const end = start + (segments[start] === "namespaces" ? 5 : 3);
  return segments.slice(1, end).includes("");
}

/** A path without percent-encodings. */
function plainPath(path: string): string {
  return path.includes("%") ? decodeURIComponent(path) : path;
}

function splitPath(path: string): string[] {
  if (!path.startsWith("/")) {
    throw new StatusError("BadRequest", `what is asked for is no path: ${JSON.stringify(path)}`);
  }
  const end = path.length > 1 && path.endsWith("/") ? path.length - 1 : path.length;
  const segments: string[] = [];
  for (let from = 1; from <= end;) {
    const slash = path.indexOf("/", from);
    const to = slash === -1 ? end : slash;
    segments.push(path.slice(from, to));
    from = to + 1;
  }
  if (!path.includes("%")) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    throw new StatusError("BadRequest", `the path ${JSON.stringify(path)} is not well encoded`);
  }
}

/** @param prefix how many segments stand before the resources: the group's and the version's. */
function resourceFacts(
  method: string,
  path: string,
  query: Query,
  segments: readonly string[],
  prefix: number,
): ResourceFacts {
  const watchPath = isWatchPath(segments, prefix);
  const start = watchPath ? prefix + 1 : prefix;
  let namespace = "";
  let at = start;
  const parts = segments.length - start;
  if (segments[at] === "namespaces" && parts > 1) {
    namespace = segments[at + 1]!;
    if (parts > 2 && !(parts === 3 && namespaceSubresources.has(segments[at + 2]!))) at += 2;
  }
  const name = segments[at + 1] ?? "";
  return {
    kind: "resource",
    path,
    verb: watchPath ? "watch" : verbOf(method, name, query),
    group: prefix === 2 ? "" : segments[1]!,
    version: segments[prefix - 1]!,
    resource: segments[at]!,
    name,
    namespace,
    subresource: segments[at + 2] ?? "",
    rest: segments.length <= at + 3 ? "" : segments.slice(at + 3).join("/"),
    watchPath,
    query,
  };
}

function isWatchPath(segments: readonly string[], prefix: number): boolean {
  return segments[prefix] === "watch" && segments.length > prefix + 1;
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
