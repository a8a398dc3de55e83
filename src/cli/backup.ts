import { backupLmdb, restoreLmdb } from "../storage/lmdb/backup.ts";
import { helpText, type Command } from "./command.ts";
import { storeFolder } from "./data-folder.ts";
import type { Flag } from "./flag.ts";
import { FlagReader, parseFlags, UsageError } from "./flag-reader.ts";

const backupFlags: readonly Flag[] = [
  {
    name: "data-dir",
    type: "string",
    default: ".plinth",
    doc: "Data folder of the server, which may be running.",
  },
  { name: "to", type: "string", default: "", doc: "Folder for the backup; it must not exist or be empty." },
];

/** Copies a data folder, at one revision, while it is being served. */
export const backupCommand: Command = {
  help: () =>
    helpText("plinth backup --to=FOLDER [FLAGS]", "Copies the stored objects at one revision.", backupFlags),
  async run(words) {
    const read = new FlagReader(backupFlags, parseFlags(backupFlags, words));
    const target = needed(read, "to");
    const { revision } = await backupLmdb(storeFolder(read.text("data-dir")), target);
    process.stdout.write(`backed up revision ${revision} to ${target}\n`);
    return 0;
  },
};

const restoreFlags: readonly Flag[] = [
  { name: "from", type: "string", default: "", doc: "Folder that plinth backup wrote." },
  {
    name: "data-dir",
    type: "string",
    default: ".plinth",
    doc: "Data folder to fill; it must hold no objects yet.",
  },
];

/** Fills an empty data folder from a backup. */
export const restoreCommand: Command = {
  help: () =>
    helpText(
      "plinth restore --from=FOLDER [FLAGS]",
      "Fills an empty data folder from a backup.",
      restoreFlags,
    ),
  async run(words) {
    const read = new FlagReader(restoreFlags, parseFlags(restoreFlags, words));
    const source = needed(read, "from");
    const { revision } = await restoreLmdb(source, storeFolder(read.text("data-dir")));
    process.stdout.write(`restored revision ${revision} from ${source}\n`);
    return 0;
  },
};

function needed(read: FlagReader, name: string): string {
  const value = read.optional(name);
  if (value === undefined) throw new UsageError(`--${name} is needed`);
  return value;
}
