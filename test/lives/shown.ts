import type { Answer } from "../support/api.ts";
import { isPlain, type Json } from "./subject.ts";

/**
 * What an answer says, one fact a line, in an order of its own, without what differs from run to run: texts, times, uids,
 * numbers of versions, allocated addresses. An object is told by how it differs from a first one, which is told whole.
 */
export class Teller {
  private first = new Map<string, string>();
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
    if (Array.isArray(body["items"])) return [...lines, ...this.listLines(body)];
    return [...lines, ...this.changes(body)];
  }

  private listLines(list: Json): string[] {
    const items = list["items"] as Json[];
    const lines = [`list: ${text(list["apiVersion"])} ${text(list["kind"])} of ${items.length}`];
    for (const key of Object.keys((list["metadata"] as Json | undefined) ?? {}))
      lines.push(`metadata.${key} is there`);
    return items[0] === undefined ? lines : [...lines, ...this.changes(items[0])];
  }

  private changes(object: Json): string[] {
    const version = text((object["metadata"] as Json | undefined)?.["resourceVersion"]);
    const same = version === this.version;
    this.version = version;
    const lines = [`resourceVersion: ${version === "undefined" ? "none" : same ? "as before" : "another"}`];
    const now = new Map(leaves(object, ""));
    if (this.first.size === 0) this.first = now;
    const all = now === this.first;
    for (const [path, value] of now) if (all || this.first.get(path) !== value) lines.push(`${path} = ${value}`);
    for (const path of this.first.keys()) if (!now.has(path)) lines.push(`${path} is gone`);
    return lines.toSorted();
  }
}

function statusLines(status: Json): string[] {
  const details = (status["details"] ?? {}) as Json;
  const about = ["kind", "group", "name", "uid", "retryAfterSeconds"].filter((key) => key in details);
  const causes = ((details["causes"] ?? []) as Json[]).map(
    (cause) => `cause: ${text(cause["reason"])} at ${text(cause["field"])}`,
  );
  return [
    `status: ${text(status["status"])} ${text(status["reason"])}`,
    ...about.map((key) => `about ${key}: ${key === "uid" ? "UID" : steady(text(details[key]))}`),
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
  return value.replace(uuid, "UID").replace(/^(generated-)[a-z0-9]{5}$/, "$1RANDOM");
}

function cellText(column: string, cell: unknown): string {
  if (typeof cell !== "string") return JSON.stringify(cell);
  if (/^\d+(s|ms|m\d*s?)$/.test(cell)) return "AGE";
  return column === "Cluster-IP" ? "ADDRESS" : JSON.stringify(steady(cell));
}

const text = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined"));

/** The members of a value that have none of their own, with their paths. */
function* leaves(value: unknown, path: string): Generator<[string, string]> {
  if (path === "metadata.managedFields") {
    for (const entry of value as Json[]) yield* ownership(entry);
    return;
  }
  if (path === "metadata.resourceVersion") return;
  if (Array.isArray(value) && value.length > 0)
    for (const [at, item] of value.entries()) yield* leaves(item, `${path}[${at}]`);
  else if (isPlain(value) && Object.keys(value).length > 0)
    for (const key of Object.keys(value))
      yield* leaves(value[key], path === "" ? key : `${path}.${key.replaceAll(".", "·")}`);
  else yield [path, leafText(path, value)];
}

function* ownership(entry: Json): Generator<[string, string]> {
  const who = ["manager", "operation", "apiVersion", "subresource"].map((key) => text(entry[key] ?? "-"));
  for (const path of owned(entry["fieldsV1"] as Json, "")) yield [`owner ${who.join(" ")}: ${path}`, "yes"];
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
  return path === "spec.request" ? "REQUEST" : JSON.stringify(steady(value));
}
