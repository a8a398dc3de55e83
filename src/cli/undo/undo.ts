import type { UndoConflict, UndoneField, UndoneObject, UndoStatus } from "../../kinds/history/undo.ts";
import { accessFlags } from "../client/access-flags.ts";
import { connected } from "../client/connection.ts";
import { conflictCode, pathOfPosted, postOrConflicts } from "../client/post-or-conflicts.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { timeNamed } from "../flags/time-text.ts";

const about = `Takes back what a change did, in one transaction: fields get their values from before it, objects that it created are deleted, and
objects that it deleted are created again. What others have changed elsewhere since stays. If others have changed the same fields
since, these are printed and nothing is written.

CHANGE is the audit ID of a request or transaction: auditID in plinth history KIND NAME --output=yaml. Without it, the flags choose what
a user or field manager did in an interval.

The exit code is 0 if the change was undone or nothing is left to undo, 3 if others have changed the same fields since, 1 for any other
error of the server, and 2 for wrong flags.`;

/** Every flag of `plinth undo`. */
const undoFlags: readonly Flag[] = [
  { name: "user", type: "string", default: "", doc: "Undo what this user did; with --from." },
  { name: "manager", type: "string", default: "", doc: "Undo what this field manager did; with --from." },
  {
    name: "from",
    type: "string",
    default: "",
    doc: "Time of the first write: 2026-11-24T10:00:00Z, or how long ago, such as 30m.",
  },
  {
    name: "to",
    type: "string",
    default: "",
    doc: "Time of the last write, in the same forms; the default is now.",
  },
  {
    name: "resource",
    type: "list",
    default: "",
    doc: "Resources to search, such as configmaps or deployments.apps; the default is all whose history is kept.",
  },
  {
    name: "namespace",
    short: "n",
    type: "string",
    default: "",
    doc: "Namespace of the objects; the default is all, and cluster-scoped objects.",
  },
  { name: "field-manager", type: "string", default: "plinth", doc: "Field manager of the undo." },
  { name: "dry-run", type: "boolean", default: "", doc: "Print what would be undone, and write nothing." },
  ...accessFlags,
];

/** Takes back what a change did. */
export const undoCommand: Command = {
  flags: undoFlags,
  help: () => helpText("plinth undo [CHANGE] [FLAGS]", about, undoFlags),
  async run(words) {
    const names: string[] = [];
    const read = new FlagReader(undoFlags, parseFlags(undoFlags, words, names));
    const spec = specOf(names, read, Date.now());
    const isDryRun = read.boolean("dry-run") === true;
    const query = `?fieldManager=${encodeURIComponent(read.text("field-manager"))}`;
    const status = await connected(read, ({ client, table }) => {
      const path = pathOfPosted(table, "Undo", "history", "undos");
      return postOrConflicts<UndoStatus>(client, `${path}${query}`, spec, isDryRun);
    });
    process.stdout.write(textOf(status));
    return (status.conflicts ?? []).length > 0 ? conflictCode : 0;
  },
};

/** @throws {UsageError} the words and flags don't choose a change. */
function specOf(names: readonly string[], read: FlagReader, now: number): object {
  const [change, second] = names;
  if (second !== undefined)
    throw new UsageError(`plinth undo takes one change, not also ${JSON.stringify(second)}`);
  const [user, manager] = [read.optional("user"), read.optional("manager")];
  const [from, to] = [timeOf("from", read, now), timeOf("to", read, now)];
  if (change !== undefined && [user, manager, from, to].some((value) => value !== undefined))
    throw new UsageError("--user, --manager, --from and --to exclude a change");
  if (change === undefined && user === undefined && manager === undefined)
    throw new UsageError("a change is needed: its audit ID, or --user or --manager with --from");
  if (change === undefined && from === undefined)
    throw new UsageError("--from is needed with --user and --manager: the time of the first write to undo");
  const [resources, namespace] = [read.list("resource"), read.optional("namespace")];
  return {
    change,
    user,
    manager,
    from,
    to,
    namespace,
    ...(resources.length === 0 ? {} : { resources }),
  };
}

function timeOf(flag: string, read: FlagReader, now: number): string | undefined {
  const text = read.optional(flag);
  if (text === undefined) return undefined;
  const time = timeNamed(text, now);
  if (time !== undefined) return time;
  throw new UsageError(
    `--${flag}: ${JSON.stringify(text)} is neither a time such as 2026-11-24T10:00:00Z nor a duration such as 30m`,
  );
}

function textOf({
  objects = [],
  conflicts = [],
  moreConflicts,
  message,
  resourceVersion,
}: UndoStatus): string {
  const version = resourceVersion === undefined ? "" : ` at resource version ${resourceVersion}`;
  const lines =
    conflicts.length > 0
      ? [
          ...conflicts.map(conflictLine),
          ...(moreConflicts === undefined ? [] : [`and ${moreConflicts} more`]),
        ]
      : objects.flatMap(objectLines);
  return `${[...lines, `${message ?? ""}${version}`].join("\n")}\n`;
}

const actions: Readonly<Record<string, string>> = {
  create: "created again",
  update: "set back",
  delete: "deleted",
  none: "unchanged",
};

function objectLines({ action, fields = [], moreFields, notes = [], ...object }: UndoneObject): string[] {
  return [
    `${nameOf(object)} ${actions[action] ?? action}`,
    ...fields.map(fieldLine),
    ...(moreFields === undefined ? [] : [`  and ${moreFields} more fields`]),
    ...notes.map((note) => `  note: ${note}`),
  ];
}

function fieldLine({ path, from, to }: UndoneField): string {
  if (from === undefined) return `  + ${path}: ${to ?? ""}`;
  return to === undefined ? `  - ${path}: ${from}` : `  ~ ${path}: ${from} -> ${to}`;
}

function conflictLine({
  path,
  reason,
  managers = [],
  before,
  after,
  now,
  contents,
  ...object
}: UndoConflict): string {
  const by = managers.length === 0 ? "" : ` by ${managers.join(", ")}`;
  const name = nameOf(object);
  if (reason === "Replaced") return `conflict: ${name}: created again since${by}`;
  if (reason === "Terminating") return `conflict: ${name}: its deletion has not ended`;
  if (reason === "InUse") return `conflict: ${name}: contains ${contents ?? "other objects"}`;
  const show = (value: string | undefined) => value ?? "absent";
  return `conflict: ${name}: ${path ?? ""} changed since${by}: ${show(before)} before the change, ${show(after)} after it, ${show(now)} now`;
}

function nameOf({ kind, namespace, name }: Pick<UndoneObject, "kind" | "namespace" | "name">): string {
  return `${kind.toLowerCase()} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}
