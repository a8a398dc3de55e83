import { encodeJson } from "../../base/json/encode.ts";
import type { JsonObject, JsonValue } from "../../base/json/value.ts";
import { ClientError } from "../client/client-error.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import type { WorkspaceDiffStatus } from "../../kinds/tenancy/workspace-diff.ts";
import { diffText } from "../../resources/branches/branch-text.ts";
import { outputFlag, pathOfKind, printsJson, withoutKind } from "../branches/workspace-requests.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { fieldChanges, type FieldChange } from "./field-changes.ts";
import { connected, type Connection } from "../client/connection.ts";
import { NamedObject, objectFlags, type ListedVersion } from "./named-object.ts";

const about = `With KIND and NAME: prints the fields that differ between two states of an object, each with the field manager that owns it. Fields that
were added begin with +, removed ones with -, changed ones with ~.

With one name, such as plinth diff trial or plinth diff workspace/trial: prints the objects and fields in which a workspace differs from
its base now, in what it has changed. With --to=WORKSPACE it is compared with another workspace, from the first to the second.`;

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
    doc: "Later state: a resource version or a time; the default is now. Of a workspace: the workspace with which it is compared.",
  },
  {
    name: "since-start",
    type: "boolean",
    default: "",
    doc: "Compare a workspace with the state with which it began, instead of its base now.",
  },
  {
    name: "exit-code",
    type: "boolean",
    default: "",
    doc: "Exit with 1 if something differs; the default is 0.",
  },
  outputFlag,
  ...objectFlags,
];

/** Compares two states of an object. */
export const diffCommand: Command = {
  flags: diffFlags,
  help: () =>
    helpText(
      "plinth diff KIND NAME [--from=STATE] [--to=STATE] [FLAGS]\n       plinth diff WORKSPACE [--to=WORKSPACE] [FLAGS]",
      about,
      diffFlags,
    ),
  async run(words) {
    const names: string[] = [];
    const read = new FlagReader(diffFlags, parseFlags(diffFlags, words, names));
    const asJson = printsJson(read);
    const changedCode = read.boolean("exit-code") === true ? 1 : 0;
    if (names.length === 1) {
      const status = await connected(read, (connection) => compareWorkspace(connection, names[0]!, read));
      process.stdout.write(asJson ? `${JSON.stringify(status)}\n` : diffText(status));
      return (status.objects ?? []).length > 0 ? changedCode : 0;
    }
    if (read.boolean("since-start") === true) throw new UsageError("--since-start is for workspaces only");
    const from = read.optional("from");
    const to = read.optional("to");
    const changes = await connected(read, async (connection) => {
      const object = NamedObject.of(connection, names, "plinth diff");
      const before = from === undefined ? await lastBefore(object) : await object.read(from);
      const after = await object.read(to);
      if (before === undefined && after === undefined)
        throw new ClientError(`${object.text} exists in neither of the two states`);
      return { before, after, fields: fieldChanges(before, after) };
    });
    process.stdout.write(asJson ? jsonOfChanges(changes) : textOf(changes));
    return changes.fields.length > 0 ? changedCode : 0;
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

/** Posts a comparison of a workspace. */
async function compareWorkspace(
  connection: Connection,
  word: string,
  read: FlagReader,
): Promise<WorkspaceDiffStatus> {
  if (read.optional("from") !== undefined)
    throw new UsageError(
      "--from is for states of an object; a workspace is compared with its base, or with --to",
    );
  const to = read.optional("to");
  const spec = {
    workspace: withoutKind(word),
    ...(to === undefined ? {} : { to: withoutKind(to) }),
    ...(read.boolean("since-start") === true ? { sinceStart: true } : {}),
  };
  const { status } = await connection.client.post(pathOfKind(connection, "WorkspaceDiff"), { spec });
  return status as WorkspaceDiffStatus;
}

/** The difference of an object. */
interface ObjectChanges {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
  readonly fields: readonly FieldChange[];
}

function jsonOfChanges({ before, after, fields }: ObjectChanges): string {
  const action = before === undefined ? "created" : after === undefined ? "deleted" : "changed";
  return `${JSON.stringify({ action: fields.length === 0 ? "unchanged" : action, fields })}\n`;
}

function textOf({ before, after, fields }: ObjectChanges): string {
  const lines = fields.map(lineOf).join("");
  if (before === undefined) return `created\n${lines}`;
  if (after === undefined) return `deleted\n${lines}`;
  return fields.length === 0 ? "no field differs\n" : lines;
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
