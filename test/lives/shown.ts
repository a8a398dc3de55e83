import type { Answer } from "../support/api.ts";
import { isPlain, type Json } from "./subject.ts";

/**
 * What an answer says, one fact a line, in an order of its own, without what differs from run to run: texts, times, uids,
 * numbers of versions, allocated addresses. An object is told by how it differs from a first one, which is told whole.
 */
export class Teller {
  private first: { readonly members: ReadonlyMap<string, string>; readonly owners: Owners } | undefined;
  private version = "";

  tell(answer: Answer): string[] {
    const type = String(answer.headers["content-type"] ?? "none");
    const lines = type === "application/json" ? [] : [`content-type: ${type}`];
    if (answer.warnings.length > 0) lines.push(`warnings: ${answer.warnings.length}`);
    // Answers to watches that fail may be printed over several lines.
    const body: unknown = answer.body ?? (answer.text.startsWith("{") ? JSON.parse(answer.text) : undefined);
    if (!isPlain(body)) return lines;
    if (body["kind"] === "Status") return [...lines, ...statusLines(body)];
    if (body["kind"] === "Table") return [...lines, ...tableLines(body)];
    if ("items" in body) return [...lines, ...this.listLines(body)];
    return [...lines, ...this.changes(body)];
  }

  private listLines(list: Json): string[] {
    // The reference has kinds whose empty lists are null.
    const items = list["items"] as Json[] | null;
    const lines = [`list: ${text(list["apiVersion"])} ${text(list["kind"])} of ${items?.length ?? "null"}`];
    for (const key of Object.keys((list["metadata"] as Json | undefined) ?? {}))
      lines.push(`metadata.${key} is there`);
    return items?.[0] === undefined ? lines : [...lines, ...this.changes(items[0])];
  }

  private changes(object: Json): string[] {
    const metadata = (object["metadata"] ?? {}) as Json;
    const version = text(metadata["resourceVersion"]);
    const same = version === this.version;
    this.version = version;
    const lines = [`resourceVersion: ${version === "undefined" ? "none" : same ? "as before" : "another"}`];
    const owners = ownersOf((metadata["managedFields"] ?? []) as Json[]);
    const now = new Map(leaves(object, ""));
    const { first } = this;
    if (first === undefined) this.first = { members: now, owners };
    for (const [path, value] of now) if (first?.members.get(path) !== value) lines.push(`${path} = ${value}`);
    for (const path of first?.members.keys() ?? []) if (!now.has(path)) lines.push(`${path} is gone`);
    return [...lines, ...ownerLines(owners, first?.owners ?? new Map())].toSorted();
  }
}

/** By manager, the fields that it owns. */
type Owners = ReadonlyMap<string, ReadonlySet<string>>;

function ownersOf(entries: readonly Json[]): Owners {
  return new Map(
    entries.map((entry) => {
      const who = ["manager", "operation", "apiVersion", "subresource"].map((key) => text(entry[key] ?? "-"));
      return [who.join(" "), new Set(owned(entry["fieldsV1"] as Json, ""))];
    }),
  );
}

/** Who owns what, where that isn't as it was first: all that the first one owned, or that and how it differs. */
function ownerLines(owners: Owners, first: Owners): string[] {
  const [creator] = first.values();
  const lines: string[] = [];
  for (const [who, fields] of owners) {
    const known = first.get(who);
    if (known !== undefined && differences(fields, known).length === 0) continue;
    const likeFirst = creator === undefined ? undefined : differences(fields, creator);
    const list = likeFirst !== undefined && likeFirst.length < fields.size ? likeFirst : undefined;
    const what = list === undefined ? [...fields].toSorted() : ["all that was owned first", ...list];
    lines.push(`owner ${who}: ${what.join(", ")}`);
  }
  for (const who of first.keys()) if (!owners.has(who)) lines.push(`owner ${who} is gone`);
  return lines;
}

function differences(fields: ReadonlySet<string>, from: ReadonlySet<string>): string[] {
  const more = [...fields].filter((one) => !from.has(one)).map((one) => `and ${one}`);
  const less = [...from].filter((one) => !fields.has(one)).map((one) => `but ${one}`);
  return [...less.toSorted(), ...more.toSorted()];
}

function statusLines(status: Json): string[] {
  const details = (status["details"] ?? {}) as Json;
  const about = ["kind", "group", "name", "uid", "retryAfterSeconds"]
    .filter((key) => key in details)
    .map((key) => `${key} ${key === "uid" ? "UID" : steady(text(details[key]))}`);
  const causes = ((details["causes"] ?? []) as Json[]).map(
    (cause) => `cause: ${text(cause["reason"])} at ${text(cause["field"])}`,
  );
  return [
    status["status"] === "Success" ? "success" : `failure: ${text(status["reason"])}`,
    ...(about.length === 0 ? [] : [`about ${about.join(", ")}`]),
    // A fault that is found twice is one fault.
    ...new Set(causes.toSorted()),
  ];
}

function tableLines(table: Json): string[] {
  const columns = table["columnDefinitions"] as Json[];
  const lines = columns.map(
    (column) =>
      `column: ${text(column["name"])} ${text(column["type"])} ${text(column["format"])} ${text(column["priority"])}`,
  );
  const rows = (table["rows"] ?? []) as Json[];
  lines.push(`rows: ${rows.length}`);
  const [row] = rows;
  if (row === undefined) return lines;
  (row["cells"] as unknown[]).forEach((cell, at) =>
    lines.push(`cell ${text(columns[at]?.["name"])}: ${cellText(text(columns[at]?.["name"]), cell)}`),
  );
  const object = row["object"] as Json | null | undefined;
  lines.push(`object: ${object ? `${text(object["apiVersion"])} ${text(object["kind"])}` : "none"}`);
  return lines;
}

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
/** The times in `objects.yaml`. */
const declaredTime = "2020-01-01T00:00:00";
const isTime = (value: string): boolean => time.test(value) && !value.startsWith(declaredTime);

/** A text without what differs from run to run, whatever it is about. */
function steady(value: string): string {
  if (isTime(value)) return "TIME";
  const short = value.replace(/(.)\1{40,}/g, (run, letter: string) => `${letter} ${run.length} times`);
  return short.replace(uuid, "UID").replace(/^(generated-|Bad_)[a-z0-9]{5}$/, "$1RANDOM");
}

function cellText(column: string, cell: unknown): string {
  if (typeof cell !== "string") return JSON.stringify(cell);
  if (/^\d+(ms|[smhdy](\d+[smhd])?)$/.test(cell)) return "AGE";
  return column === "Cluster-IP" ? "ADDRESS" : JSON.stringify(steady(cell));
}

const text = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");

/** The members of a value that have none of their own, with their paths. */
function* leaves(value: unknown, path: string): Generator<[string, string]> {
  if (path === "metadata.resourceVersion" || path === "metadata.managedFields") return;
  if (Array.isArray(value) && value.length > 0)
    for (const [at, item] of value.entries()) yield* leaves(item, `${path}[${at}]`);
  else if (isPlain(value) && Object.keys(value).length > 0)
    for (const key of Object.keys(value))
      yield* leaves(value[key], path === "" ? key : `${path}.${key.replaceAll(".", "·")}`);
  else yield [path, leafText(path, value)];
}

function* owned(fields: Json, path: string): Generator<string> {
  const keys = Object.keys(fields);
  if (keys.length === 0) yield path;
  for (const key of keys)
    yield* key === "." ? [`${path}/.`] : owned(fields[key] as Json, `${path}/${key.replace(/^f:/, "")}`);
}

function leafText(path: string, value: unknown): string {
  if (path === "metadata.uid") return "UID";
  if (typeof value !== "string") return JSON.stringify(value);
  if (/^spec\.clusterIPs?(\[0\])?$/.test(path) && /^\d/.test(value)) return "ADDRESS";
  if (path === "status.token") return "TOKEN";
  return path === "spec.request" ? "REQUEST" : JSON.stringify(steady(value));
}
