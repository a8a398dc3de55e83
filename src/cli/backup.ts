import { resolve } from "node:path";
import { type BackupResult, backupLmdb, restoreLmdb } from "../storage/lmdb/backup.ts";
import { helpText, type Command } from "./command.ts";
import { defaultDataDir, identityFolder, storeFolder } from "./data-folder.ts";
import type { Flag } from "./flag.ts";
import { showingProgress } from "./progress.ts";
import { FlagReader, parseFlags, UsageError } from "./flag-reader.ts";

const backupFlags: readonly Flag[] = [
  {
    name: "data-dir",
    type: "string",
    default: defaultDataDir,
    doc: "Data folder of the server, which may be running.",
  },
  { name: "to", type: "string", default: "", doc: "Folder for the backup; it must not exist or be empty." },
];

const backupAbout = `Copies the stored objects, at one revision, and the server's own authority and keys.
The backup holds secrets. It doesn't contain files that flags of the server name, such as --tls-cert-file.`;

/** Copies a data folder at one revision; a server may be running. */
export const backupCommand: Command = {
  flags: backupFlags,
  help: () => helpText("plinth backup --to=FOLDER [FLAGS]", backupAbout, backupFlags),
  async run(words) {
    const read = new FlagReader(backupFlags, parseFlags(backupFlags, words));
    const target = needed(read, "to");
    const dataDir = read.text("data-dir");
    const result = await showingProgress((progress) =>
      backupLmdb(storeFolder(dataDir), target, { folders: identityOf(dataDir), progress }),
    );
    process.stdout.write(
      `backed up revision ${result.revision} to ${target}: ${contentOf(result)}\n` +
        "it holds secrets: who can read it can read every Secret and act as any user of the server\n",
    );
    return 0;
  },
};

const restoreFlags: readonly Flag[] = [
  { name: "from", type: "string", default: "", doc: "Folder that plinth backup wrote." },
  {
    name: "data-dir",
    type: "string",
    default: defaultDataDir,
    doc: "Data folder to fill; it must hold no objects and no keys yet.",
  },
];

/** Fills an empty data folder from a backup. */
export const restoreCommand: Command = {
  flags: restoreFlags,
  help: () =>
    helpText(
      "plinth restore --from=FOLDER [FLAGS]",
      "Fills an empty data folder from a backup: certificates and tokens of clients stay valid for a server started there.",
      restoreFlags,
    ),
  async run(words) {
    const read = new FlagReader(restoreFlags, parseFlags(restoreFlags, words));
    const source = needed(read, "from");
    const dataDir = read.text("data-dir");
    const result = await showingProgress((progress) =>
      restoreLmdb(source, storeFolder(dataDir), { folders: identityOf(dataDir), progress }),
    );
    const vocabulary = result.stamp === undefined ? "" : ` --vocabulary=${result.stamp.label}`;
    process.stdout.write(
      `restored revision ${result.revision} from ${source}: ${contentOf(result)}\n` +
        `start it with: plinth serve --data-dir=${dataDir}${vocabulary}\n`,
    );
    return 0;
  },
};

/** Returns the folder and files of the server's CA and keys. */
function identityOf(dataDir: string) {
  return [{ name: "pki", dir: resolve(identityFolder(dataDir)) }];
}

function contentOf({ files }: BackupResult): string {
  return files.length === 0
    ? "the objects; the data folder has no keys of the server"
    : `the objects, and the server's authority and keys (${files.join(", ")})`;
}

function needed(read: FlagReader, name: string): string {
  const value = read.optional(name);
  if (value === undefined) throw new UsageError(`--${name} is needed`);
  return value;
}
