import { encodePretty } from "../../base/json/encode.ts";
import { jsonOf, type JsonObject } from "../../base/json/value.ts";
import { plainYaml } from "../../http/encodings/plain-yaml.ts";
import { columns } from "../auth/columns.ts";
import { ClientError } from "../client/client-error.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { fieldChanges } from "./field-changes.ts";
import { connected } from "../client/connection.ts";
import { NamedObject, objectFlags, type ListedVersion } from "./named-object.ts";

const about = `Lists the versions of an object, newest first, with who made them; also of a deleted one. With --at it prints the object as it
was. The server must keep the history of the kind (plinth serve --history-retention).`;

/** Every flag of `plinth history`. */
const historyFlags: readonly Flag[] = [
  { name: "limit", type: "integer", default: "20", doc: "Number of versions, from 1 to 10000." },
  {
    name: "at",
    type: "string",
    default: "",
    doc: "Print the object as it was at a time, such as 2026-11-24T10:00:00Z, or at a resource version.",
  },
  {
    name: "output",
    short: "o",
    type: "string",
    default: "",
    doc: "table, json or yaml; the default is table, and yaml with --at.",
  },
  ...objectFlags,
];

/** Lists the versions of an object, or prints one. */
export const historyCommand: Command = {
  flags: historyFlags,
  help: () => helpText("plinth history KIND NAME [FLAGS]", about, historyFlags),
  async run(words) {
    const names: string[] = [];
    const read = new FlagReader(historyFlags, parseFlags(historyFlags, words, names));
    const at = read.optional("at");
    const format = formatOf(read, at === undefined ? "table" : "yaml");
    const limit = read.integer("limit", 1, 10_000);
    const text = await connected(read, async (connection) => {
      const object = NamedObject.of(connection, names, "plinth history");
      if (at !== undefined) return written(await pastState(object, at), format);
      if (format === "table") return tableOf(await object.versions(limit + 1, true), limit);
      return written(await object.versions(limit, false), format);
    });
    process.stdout.write(text);
    return 0;
  },
};

function formatOf(read: FlagReader, byDefault: "table" | "yaml"): string {
  const format = read.optional("output") ?? byDefault;
  const allowed = byDefault === "table" ? ["table", "json", "yaml"] : ["json", "yaml"];
  if (allowed.includes(format)) return format;
  throw new UsageError(`--output: ${JSON.stringify(format)} is not one of ${allowed.join(", ")}`);
}

async function pastState(object: NamedObject, at: string): Promise<JsonObject> {
  const state = await object.read(at);
  if (state === undefined) throw new ClientError(`${object.text} did not exist at ${at}`);
  return state;
}

function written(value: object, format: string): string {
  return format === "json" ? `${encodePretty(jsonOf(value))}\n` : plainYaml(jsonOf(value));
}

/** @param versions one more than `limit`, if there are more: the changes of a version are those since the one before. */
function tableOf(versions: readonly ListedVersion[], limit: number): string {
  const rows = versions
    .slice(0, limit)
    .map((version, index) => [
      version.metadata.resourceVersion,
      version.time ?? "-",
      version.user ?? "-",
      version.manager || "-",
      version.deleted === true ? `${version.verb ?? "delete"} (deleted)` : (version.verb ?? "-"),
      changedFields(version, versions[index + 1]),
    ]);
  return columns(["VERSION", "TIME", "USER", "MANAGER", "VERB", "FIELDS"], rows);
}

/** Number of fields that a version changed; `-` if that is unknown. */
function changedFields(version: ListedVersion, before: ListedVersion | undefined): string {
  if (version.deleted === true || version.error !== undefined || before?.error !== undefined) return "-";
  if (before === undefined && version.previousVersion !== undefined) return "-";
  const earlier = before?.deleted === true ? undefined : before?.object;
  return String(fieldChanges(earlier, version.object).length);
}
