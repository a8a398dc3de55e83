/** What a server in Go reads of a request's method and path, before it asks authorization. */
export interface GoRequestInfo {
  readonly isResource: boolean;
  readonly path: string;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
}

const verbs = new Map(
  Object.entries({
    GET: "get",
    HEAD: "get",
    POST: "create",
    PUT: "update",
    PATCH: "patch",
    DELETE: "delete",
  }),
);

/**
 * The rules by which release 1.26 of the reference reads paths, written anew from its observed behavior as an oracle: the path
 * is decoded as a whole, slashes at both ends are cut, and what is left is split. The root of `watch` alone is an error there.
 */
export function goRequestInfo(method: string, sentPath: string, isWatch = false): GoRequestInfo | "error" {
  const path = decodeURIComponent(sentPath);
  const parts = path.replace(/^\/+|\/+$/g, "").split("/");
  const nothing = { group: "", version: "", namespace: "", resource: "", subresource: "", name: "" };
  const other = { isResource: false, path, verb: method.toLowerCase(), ...nothing };
  const root = parts.shift();
  if (root !== "api" && root !== "apis") return other;
  if (parts.length < (root === "api" ? 2 : 3)) return other;
  const group = root === "apis" ? parts.shift()! : "";
  const version = parts.shift()!;
  let verb = verbs.get(method) ?? "";
  if (parts[0] === "watch" || parts[0] === "proxy") {
    if (parts.length < 2) return "error";
    verb = parts.shift()!;
  }
  let namespace = "";
  if (parts[0] === "namespaces" && parts.length > 1) {
    namespace = parts[1]!;
    if (parts.length > 2 && parts[2] !== "status" && parts[2] !== "finalize") parts.splice(0, 2);
  }
  const [resource = "", name = "", third = ""] = parts;
  if (name === "" && verb === "get") verb = isWatch ? "watch" : "list";
  if (name === "" && verb === "delete") verb = "deletecollection";
  const subresource = verb === "proxy" ? "" : third;
  return { isResource: true, path, verb, group, version, namespace, resource, subresource, name };
}
