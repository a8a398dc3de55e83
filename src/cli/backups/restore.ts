import { isOnCalendar } from "../../base/time/timestamps.ts";
import { restoreLmdb } from "../../storage/lmdb/backup/restore.ts";
import type { RestorePoint } from "../../storage/lmdb/backup/restore-point.ts";
import { helpText, type Command } from "../command.ts";
import { defaultDataDir, storeFolder } from "../serve/data-folder.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { showingProgress } from "../terminal/progress.ts";
import { restoreObject, restoreObjectFlags } from "../history/restore-object.ts";
import { backupFor } from "./series.ts";
import { contentOf, identityOf } from "./backup-content.ts";

const restoreFlags: readonly Flag[] = [
  {
    name: "from",
    type: "string",
    default: "",
    doc: "Folder that plinth backup wrote, or a folder of backups (--backup-dir), of which the newest is used.",
  },
  {
    name: "data-dir",
    type: "string",
    default: defaultDataDir,
    doc: "Data folder to fill; it must hold no objects and no keys yet.",
  },
  {
    name: "time",
    type: "string",
    default: "",
    doc: "Restore the state of this time, such as 2026-11-28T10:15:00Z; it must be within the history of a backup.",
  },
  {
    name: "revision",
    type: "integer",
    default: "",
    doc: "Restore the state of this resource version; it must be within the history of the backup.",
  },
  {
    name: "keep-revisions",
    type: "boolean",
    default: "false",
    doc: "Keep resource versions and history, so that watches resume. Only if no client has seen a write after the backup.",
  },
];

const about = `Fills an empty data folder from a backup: certificates and tokens of clients stay valid for a server started there.
Its resource versions continue above all that clients can have seen, so clients list again and then watch.

With KIND and NAME it brings an object of a running server back instead, from the history that the server keeps: a deleted one with its last
state, or any one with the state of --at. It needs the right to create or update the object.`;

/** Every flag of `plinth restore`. */
const allFlags: readonly Flag[] = [...restoreFlags, ...restoreObjectFlags];

/** Fills an empty data folder from a backup, or brings an object of a server back. */
export const restoreCommand: Command = {
  flags: allFlags,
  help: () =>
    helpText(
      "plinth restore --from=FOLDER [FLAGS]\n       plinth restore KIND NAME [FLAGS]",
      about,
      allFlags,
    ),
  async run(words) {
    const names: string[] = [];
    const read = new FlagReader(allFlags, parseFlags(allFlags, words, names));
    const others = names.length > 0 ? restoreFlags : restoreObjectFlags;
    const wrong = read.flagNames.find((name) => others.some((one) => one.name === name));
    if (wrong !== undefined)
      throw new UsageError(
        names.length > 0
          ? `--${wrong} is for data folders; it can't be given with KIND and NAME`
          : `--${wrong} is for objects: plinth restore KIND NAME`,
      );
    if (names.length > 0) return restoreObject(read, names);
    const from = read.required("from");
    const dataDir = read.text("data-dir");
    const point = pointOf(read);
    const source = await backupFor(from, point !== undefined && "timeMs" in point ? point.timeMs : undefined);
    const result = await showingProgress((progress) =>
      restoreLmdb(source, storeFolder(dataDir), {
        folders: identityOf(dataDir),
        progress,
        point,
        keepsRevisions: read.boolean("keep-revisions"),
      }),
    );
    const vocabulary = result.stamp === undefined ? "" : ` --vocabulary=${result.stamp.label}`;
    process.stdout.write(
      `restored revision ${result.revision} from ${source}: ${contentOf(result)}\n` +
        `start it with: plinth serve --data-dir=${dataDir}${vocabulary}\n`,
    );
    return 0;
  },
};

/** @throws {UsageError} for a malformed time or revision, or both. */
function pointOf(read: FlagReader): RestorePoint | undefined {
  const time = read.optional("time");
  const revision = read.optional("revision");
  if (time !== undefined && revision !== undefined)
    throw new UsageError("--time and --revision exclude each other");
  if (time !== undefined) return { timeMs: timeOf(time) };
  if (revision === undefined) return undefined;
  const number = Number(revision);
  if (!/^\d{1,16}$/.test(revision) || !Number.isSafeInteger(number) || number < 1)
    throw new UsageError(`--revision: ${JSON.stringify(revision)} is not a resource version`);
  return { revision: number };
}

/** Parses a time in RFC 3339 form; returns milliseconds since 1970. */
function timeOf(text: string): number {
  const timeMs = Date.parse(text);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text);
  if (isTime && !Number.isNaN(timeMs) && isOnCalendar(text)) return timeMs;
  throw new UsageError(
    `--time: ${JSON.stringify(text)} is not a time such as 2026-11-28T10:15:00Z or 2026-11-28T11:15:00+01:00`,
  );
}
