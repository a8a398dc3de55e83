import { connectingSubresources } from "../../kinds/connecting-subresources.ts";
import { StatusError } from "../../base/status-error.ts";

/** The properties of a request that follow from its method and URL (spec: conventions 4.1, 4.2), as `RequestInfo` in Kubernetes. */
export type RequestFacts = ResourceFacts | PathFacts;

/** A request for an API resource. */
export interface ResourceFacts {
  readonly kind: "resource";
  /** The decoded path. */
  readonly path: string;
  /** The path as sent, with percent-encodings. */
  readonly sentPath: string;
  /**
   * Whether the path begins with `/api/<version>/` or `/apis/<group>/<version>/`. Other paths with the same segments, such as
   * `//api/v1/pods`, are authorized as the resource and answered with 404.
   */
  readonly atVersion: boolean;
  /** API verb; empty for a method without one. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** The path after the subresource, such as the path of a proxy request; empty if there is none. */
  readonly rest: string;
  readonly namespace: string;
  /** Whether the path has `namespaces` with an empty name, such as `/api/v1/namespaces//pods`; it means all namespaces. */
  readonly emptyNamespace: boolean;
  readonly name: string;
  /**
   * The verb in the path, such as in `/api/v1/watch/pods`, the deprecated form of the `watch` parameter. Paths with `proxy` are
   * recognized but not served. Empty for all other paths.
   */
  readonly pathVerb: "" | PathVerb;
  readonly query: Query;
}

export type PathVerb = "watch" | "proxy";

/** A non-resource request: discovery, health, version, … */
export interface PathFacts {
  readonly kind: "path";
  /** The decoded path, which is both authorized and served. */
  readonly path: string;
  /** HTTP method in lower case. */
  readonly verb: string;
  readonly query: Query;
}

/** Query parameters, parsed at first use. */
export class Query {
  private parsed: URLSearchParams | undefined;
  constructor(private readonly text: string) {}

  get empty(): boolean {
    return this.text === "";
  }

  /** Returns the first value of a parameter; undefined if it is absent. */
  get(name: string): string | undefined {
    return this.text === "" ? undefined : (this.params.get(name) ?? undefined);
  }

  /** The names of all parameters, with repetitions. */
  names(): Iterable<string> {
    return this.text === "" ? [] : this.params.keys();
  }

  all(name: string): string[] {
    return this.text === "" ? [] : this.params.getAll(name);
  }

  /** Frees the parsed parameters of a request that has read them and lasts long; the next access parses them again. */
  release(): void {
    this.parsed = undefined;
  }

  private get params(): URLSearchParams {
    return (this.parsed ??= new URLSearchParams(this.text));
  }
}

const noQuery = new Query("");

/** The facts of a request whose method and path were not parsed or are invalid. */
export const unreadFacts: RequestFacts = { kind: "path", path: "", verb: "", query: noQuery };

/** Subresources of a namespace, and its history; any other segment after its name is a resource type in the namespace. */
const namespaceSubresources = new Set(["status", "finalize", "history"]);
const pathVerbs = new Set<string>(["watch", "proxy"] satisfies PathVerb[]);

/**
 * Parses the method and URL of a request. As in Kubernetes, empty segments are valid: an empty namespace means all namespaces, and
 * an empty name is authorized as such.
 *
 * @throws {StatusError} BadRequest for an invalid path or percent-encoding.
 */
export function readFacts(method: string, url: string): RequestFacts {
  const queryIndex = url.indexOf("?");
  const sentPath = queryIndex === -1 ? url : url.slice(0, queryIndex);
  const query = queryIndex === -1 ? noQuery : new Query(url.slice(queryIndex + 1));
  const path = decodePath(sentPath);
  const segments = segmentsOf(path);
  const prefix = segments[0] === "api" ? 2 : segments[0] === "apis" ? 3 : Infinity;
  return segments.length > prefix
    ? resourceFacts(method, path, sentPath, query, segments, prefix)
    : { kind: "path", path, verb: method.toLowerCase(), query };
}

/** @param prefix number of segments before the resource type: 2 after `/api`, 3 after `/apis`. */
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
  const isNamespaced =
    inNamespace && segments.length > start + 2 && !namespaceSubresources.has(segments[start + 2]!);
  const at = isNamespaced ? start + 2 : start;
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
      // Over HTTP/2 a method can be any text. It must not become a verb: LIST of one name would list all names.
      return "";
  }
}

/** Parses a boolean parameter as Kubernetes: true if it is present and neither `false` nor `0`. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && value !== "0" && value.toLowerCase() !== "false";
}

/** Whether a request connects to a pod, a service or a node. */
export function isConnection(facts: RequestFacts): boolean {
  return (
    facts.kind === "resource" && facts.subresource !== "" && connectingSubresources.has(facts.subresource)
  );
}

/** Path of watches of several resource types (`http/subscriptions/`). */
export const subscriptionsPath = "/subscriptions";

/** Whether a request is a watch of several resource types. */
export function isSubscription(facts: RequestFacts): boolean {
  return facts.kind === "path" && facts.path === subscriptionsPath;
}

/** Whether a request is a watch or a connection, which have no deadline. */
export function isLongRunning(facts: RequestFacts): boolean {
  if (facts.kind === "path") return isSubscription(facts);
  return facts.verb === "watch" || isConnection(facts);
}

/*
 * All code that reads request paths uses these functions. A path is decoded once and then split at its slashes, as in Go's net/http and
 * the reference: an encoded slash (`%2F`) separates segments too. So authorization, this server and an extension server that gets the
 * forwarded path read it in the same way.
 */

/**
 * Decodes the percent-encodings of a path.
 *
 * @param path the path as sent, without the query.
 * @throws {StatusError} BadRequest for a text that isn't a path, and for invalid percent-encoding.
 */
export function decodePath(path: string): string {
  if (!path.startsWith("/"))
    throw new StatusError("BadRequest", `what is asked for is no path: ${JSON.stringify(path)}`);
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw new StatusError("BadRequest", `the path ${JSON.stringify(path)} is not well encoded`);
  }
}

/** Returns the segments of a decoded path; leading and trailing slashes are ignored. Empty for the root. */
export function segmentsOf(decoded: string): string[] {
  let start = 0;
  let end = decoded.length;
  while (start < end && decoded[start] === "/") start++;
  while (end > start && decoded[end - 1] === "/") end--;
  return start === end ? [] : decoded.slice(start, end).split("/");
}

/** A path in two parts. */
export interface SplitPath {
  /** Without the slash that separates the parts. */
  readonly before: string;
  /** Empty, or starting with a slash. */
  readonly after: string;
}

/**
 * Splits a path, which must begin with exactly one slash, after a number of segments. Both parts keep their percent-encodings, and double
 * and trailing slashes.
 *
 * @param path the path as sent, without the query; its percent-encoding must be valid.
 */
export function splitAfter(path: string, count: number): SplitPath {
  // Splitting at encoded and plain slashes gives the segments of the decoded path.
  const slashes = /\/|%2f/gi;
  for (let passed = 0; ; passed++) {
    const slash = slashes.exec(path);
    if (slash === null) return { before: path, after: "" };
    if (passed < count) continue;
    return { before: path.slice(0, slash.index), after: `/${path.slice(slash.index + slash[0].length)}` };
  }
}

/** First segment of the paths of workspaces. */
const workspacesSegment = "clusters";

/** The URL of a request for a workspace, as that of a request within it. */
export interface WorkspaceUrl {
  /** Name in the path; any text. */
  readonly name: string;
  /** Path and query below `/clusters/NAME`, with percent-encodings; `/` for the workspace itself. */
  readonly url: string;
}

/**
 * Returns the workspace in the path of a request, and the rest of its URL; undefined for other paths.
 *
 * @param facts those of the whole URL.
 * @param url the URL as sent.
 */
export function workspaceUrlOf({ kind, path }: RequestFacts, url: string): WorkspaceUrl | undefined {
  // A path with several slashes at its start is no path of a workspace.
  if (kind !== "path" || !path.startsWith(`/${workspacesSegment}/`)) return undefined;
  const queryIndex = url.indexOf("?");
  const sentPath = queryIndex === -1 ? url : url.slice(0, queryIndex);
  const query = queryIndex === -1 ? "" : url.slice(queryIndex);
  const { after } = splitAfter(sentPath, 2);
  return { name: segmentsOf(path)[1] ?? "", url: `${after === "" ? "/" : after}${query}` };
}

/** Returns the path of a workspace. */
export function workspacePath(name: string): string {
  return `/${workspacesSegment}/${name}`;
}

/** Whether a decoded path has a segment `.` or `..`, or a control character: other servers may interpret these differently. */
export function hasSpecialSegment(decoded: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\0-\x1f\x7f]|(?:^|\/)\.{1,2}(?:\/|$)/.test(decoded);
}
