import { isObject, type JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { readFacts, type ResourceFacts } from "../request/facts.ts";

/** Maximum number of resource types of a subscription. */
const maxWatches = 64;

/** One resource type of a subscription, and the objects of it that are watched. */
export interface WatchEntry {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty for all namespaces. */
  readonly namespace: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** Undefined for all shards. */
  readonly shardSelector?: string;
}

const selectors = ["namespace", "labelSelector", "fieldSelector", "shardSelector"] as const;
const members = ["group", "version", "resource", ...selectors] as const;
type NewEntry = { -readonly [name in keyof WatchEntry]: WatchEntry[name] };

/**
 * Parses the values of the parameter `watch`: `RESOURCE`, `VERSION/RESOURCE` or `GROUP/VERSION/RESOURCE`, then optionally `?` and the
 * parameters `namespace`, `labelSelector`, `fieldSelector` and `shardSelector` as in a URL.
 *
 * @throws {StatusError} BadRequest
 */
export function parseWatches(values: readonly string[]): WatchEntry[] {
  checkCount(values.length, "parameter watch");
  return values.map((value) => parseWatch(value, `parameter watch: ${JSON.stringify(value)}`));
}

function parseWatch(value: string, errorPrefix: string): WatchEntry {
  const at = value.indexOf("?");
  const type = at === -1 ? value : value.slice(0, at);
  const [resource = "", version = "v1", group = "", ...more] = type.split("/", 4).toReversed();
  if (more.length > 0 || type.split("/", 4).includes("")) {
    throw badRequest(errorPrefix, "must begin with RESOURCE, VERSION/RESOURCE or GROUP/VERSION/RESOURCE");
  }
  const entry: NewEntry = { group, version, resource, namespace: "", labelSelector: "", fieldSelector: "" };
  if (at === -1) return entry;
  for (const [name, text] of new URLSearchParams(value.slice(at + 1))) {
    const selector = selectors.find((one) => one === name);
    if (selector === undefined) throw unknownMember(errorPrefix, name, selectors);
    entry[selector] = text;
  }
  return entry;
}

/**
 * Decodes the body of a POST: `{"watches":[{"group","version","resource","namespace","labelSelector","fieldSelector","shardSelector"}]}`.
 *
 * @throws {StatusError} BadRequest
 */
export function decodeWatches(body: JsonValue): WatchEntry[] {
  if (!isObject(body)) throw badRequest("the body", "must be an object");
  for (const name of Object.keys(body)) {
    if (name !== "watches") throw unknownMember("the body", name, ["watches"]);
  }
  const watches = body["watches"];
  if (!Array.isArray(watches)) throw badRequest("watches", "must be a list");
  checkCount(watches.length, "watches");
  return watches.map((value, index) => decodeWatch(value, `watches[${index}]`));
}

function decodeWatch(value: JsonValue, errorPrefix: string): WatchEntry {
  if (!isObject(value)) throw badRequest(errorPrefix, "must be an object");
  const entry: NewEntry = {
    group: "",
    version: "",
    resource: "",
    namespace: "",
    labelSelector: "",
    fieldSelector: "",
  };
  for (const [name, text] of Object.entries(value)) {
    const member = members.find((one) => one === name);
    if (member === undefined) throw unknownMember(errorPrefix, name, members);
    if (typeof text !== "string") throw badRequest(`${errorPrefix}.${name}`, "must be a string");
    entry[member] = text;
  }
  if (entry.version === "" && entry.group === "") entry.version = "v1";
  for (const required of ["version", "resource"] as const) {
    if (entry[required] === "") throw badRequest(`${errorPrefix}.${required}`, "is required");
  }
  return entry;
}

function checkCount(count: number, name: string): void {
  if (count === 0) throw badRequest(name, "is required: name at least one resource type");
  if (count > maxWatches) throw badRequest(name, `has ${count} values; at most ${maxWatches} are allowed`);
}

function unknownMember(errorPrefix: string, name: string, allowed: readonly string[]): StatusError {
  return badRequest(errorPrefix, `unknown field ${JSON.stringify(name)}; allowed are ${allowed.join(", ")}`);
}

function badRequest(errorPrefix: string, message: string): StatusError {
  return new StatusError("BadRequest", `${errorPrefix}: ${message}`);
}

/** Name of an entry's resource type in messages: `v1/pods`, `apps/v1/deployments`. */
export function resourceText({ group, version, resource }: WatchEntry): string {
  return group === "" ? `${version}/${resource}` : `${group}/${version}/${resource}`;
}

/**
 * Returns the attributes of the watch that an entry stands for, those of a request to the path of its collection.
 *
 * @throws {StatusError} BadRequest if a member isn't one segment of a path.
 */
export function factsOf(entry: WatchEntry, view: string | undefined): ResourceFacts {
  const { group, version, resource, namespace, labelSelector, fieldSelector, shardSelector } = entry;
  const segments = [
    ...(group === "" ? ["api"] : ["apis", group]),
    version,
    ...(namespace === "" ? [] : ["namespaces", namespace]),
    resource,
  ];
  const query = new URLSearchParams({ watch: "true" });
  if (labelSelector !== "") query.set("labelSelector", labelSelector);
  if (fieldSelector !== "") query.set("fieldSelector", fieldSelector);
  if (shardSelector !== undefined) query.set("shardSelector", shardSelector);
  if (view !== undefined) query.set("view", view);
  const facts = readFacts("GET", `/${segments.map(encodeURIComponent).join("/")}?${query}`);
  if (!isSame(facts, entry)) {
    throw new StatusError(
      "BadRequest",
      "group, version, resource or namespace has a character that is not allowed",
    );
  }
  return facts as ResourceFacts;
}

/** Whether a path has exactly the members of an entry: a slash in one of them would have another meaning. */
function isSame(facts: ReturnType<typeof readFacts>, entry: WatchEntry): boolean {
  return (
    facts.kind === "resource" &&
    facts.atVersion &&
    (["group", "version", "resource", "namespace"] as const).every((name) => facts[name] === entry[name]) &&
    [facts.name, facts.subresource, facts.rest, facts.pathVerb].every((text) => text === "")
  );
}
