import { resolve } from "node:path";
import { type BackupResult, backupLmdb, restoreLmdb } from "../storage/lmdb/backup.ts";
import { helpText, type Command } from "./command.ts";
import { identityFolder, storeFolder } from "./data-folder.ts";
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

const backupAbout = `Copies the stored objects, at one revision, and the server's own authority and keys.
The backup holds secrets. Files that flags of the server name (--tls-cert-file and the like) aren't in it.`;

/** Copies a data folder, at one revision, while it is being served. */
export const backupCommand: Command = {
  flags: backupFlags,
  help: () => helpText("plinth backup --to=FOLDER [FLAGS]", backupAbout, backupFlags),
  async run(words) {
    const read = new FlagReader(backupFlags, parseFlags(backupFlags, words));
    const target = needed(read, "to");
    const dataDir = read.text("data-dir");
    const result = await backupLmdb(storeFolder(dataDir), target, identityOf(dataDir));
    process.stdout.write(
      `backed up revision ${result.revision} to ${target}: ${contentOf(result)}\n` +
        "it holds secrets: whoever can read it can read every Secret, and be anybody on the server\n",
    );
    return 0;
  },
};

const restoreFlags: readonly Flag[] = [
  { name: "from", type: "string", default: "", doc: "Folder that plinth backup wrote." },
  {
    name: "data-dir",
    type: "string",
    default: ".plinth",
    doc: "Data folder to fill; it must hold no objects and no keys yet.",
  },
];

/** Fills an empty data folder from a backup. */
export const restoreCommand: Command = {
  flags: restoreFlags,
  help: () =>
    helpText(
      "plinth restore --from=FOLDER [FLAGS]",
      "Fills an empty data folder from a backup: a server started there knows its clients and their tokens.",
      restoreFlags,
    ),
  async run(words) {
    const read = new FlagReader(restoreFlags, parseFlags(restoreFlags, words));
    const source = needed(read, "from");
    const dataDir = read.text("data-dir");
    const result = await restoreLmdb(source, storeFolder(dataDir), identityOf(dataDir));
    const vocabulary = result.stamp === undefined ? "" : ` --vocabulary=${result.stamp.label}`;
    process.stdout.write(
      `restored revision ${result.revision} from ${source}: ${contentOf(result)}\n` +
        `start it with: plinth serve --data-dir=${dataDir}${vocabulary}\n`,
    );
    return 0;
  },
};

/** What identity rests on in a data folder. */
function identityOf(dataDir: string) {
  return [{ name: "pki", dir: resolve(identityFolder(dataDir)) }];
}

function contentOf({ files }: BackupResult): string {
  return files.length === 0
    ? "the objects; there are no keys of the server in it"
    : `the objects, and the server's authority and keys (${files.join(", ")})`;
}

function needed(read: FlagReader, name: string): string {
  const value = read.optional(name);
  if (value === undefined) throw new UsageError(`--${name} is needed`);
  return value;
}
