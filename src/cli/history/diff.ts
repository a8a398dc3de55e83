import { encodeJson } from "../../base/json/encode.ts";
import type { JsonObject, JsonValue } from "../../base/json/value.ts";
import { ClientError } from "../client/client-error.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags } from "../flags/flag-reader.ts";
import { fieldChanges, type FieldChange } from "./field-changes.ts";
import { connected } from "../client/connection.ts";
import { NamedObject, objectFlags, type ListedVersion } from "./named-object.ts";

const about = `Prints the fields that differ between two states of an object, each with the field manager that owns it. Fields that were added
begin with +, removed ones with -, changed ones with ~.`;

/** Every flag of `plinth diff`. */
const diffFlags: readonly Flag[] = [
  {
    name: "from",
    type: "string",
    default: "",
    doc: "Earlier state: a resource version, or a time such as 2026-11-24T10:00:00Z; the default is the version before the newest.",
  },
  {
    name: "to",
    type: "string",
    default: "",
    doc: "Later state: a resource version or a time; the default is now.",
  },
  ...objectFlags,
];

/** Compares two states of an object. */
export const diffCommand: Command = {
  flags: diffFlags,
  help: () => helpText("plinth diff KIND NAME [--from=STATE] [--to=STATE] [FLAGS]", about, diffFlags),
  async run(words) {
    const names: string[] = [];
    const read = new FlagReader(diffFlags, parseFlags(diffFlags, words, names));
    const from = read.optional("from");
    const to = read.optional("to");
    const text = await connected(read, async (connection) => {
      const object = NamedObject.of(connection, names, "plinth diff");
      const before = from === undefined ? await lastBefore(object) : await object.read(from);
      const after = await object.read(to);
      if (before === undefined && after === undefined)
        throw new ClientError(`${object.text} exists in neither of the two states`);
      return textOf(before, after);
    });
    process.stdout.write(text);
    return 0;
  },
};

/** The state before the newest version; undefined if that created the object. */
async function lastBefore(object: NamedObject): Promise<JsonObject | undefined> {
  const [newest, before] = await object.versions(2, true);
  // A deletion has the last state.
  const state: ListedVersion | undefined = newest?.deleted === true ? newest : before;
  if (state?.error !== undefined)
    throw new ClientError(`version ${state.metadata.resourceVersion}: ${state.error}`);
  return state === before && before?.deleted === true ? undefined : state?.object;
}

function textOf(before: JsonObject | undefined, after: JsonObject | undefined): string {
  const changes = fieldChanges(before, after);
  if (before === undefined) return `created\n${changes.map(lineOf).join("")}`;
  if (after === undefined) return `deleted\n${changes.map(lineOf).join("")}`;
  return changes.length === 0 ? "no field differs\n" : changes.map(lineOf).join("");
}

function lineOf({ path, before, after, managers }: FieldChange): string {
  const owners = managers.length === 0 ? "" : `  (${managers.join(", ")})`;
  if (before === undefined) return `+ ${path}: ${textOfValue(after)}${owners}\n`;
  if (after === undefined) return `- ${path}: ${textOfValue(before)}${owners}\n`;
  return `~ ${path}: ${textOfValue(before)} -> ${textOfValue(after)}${owners}\n`;
}

function textOfValue(value: JsonValue | undefined): string {
  return value === undefined ? "" : encodeJson(value);
}
