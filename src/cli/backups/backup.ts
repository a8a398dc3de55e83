import { existsSync } from "node:fs";
import { backupLmdb } from "../../storage/lmdb/backup/backup.ts";
import { helpText, type Command } from "../command.ts";
import { defaultDataDir, identityFolder, storeFolder } from "../serve/data-folder.ts";
import type { Flag } from "../flags/flag.ts";
import { showingProgress } from "../terminal/progress.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { contentOf, identityOf } from "./backup-content.ts";
import { endWithServer } from "./backup-process.ts";

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
    endWithServer();
    const read = new FlagReader(backupFlags, parseFlags(backupFlags, words));
    const target = read.required("to");
    const dataDir = read.text("data-dir");
    refuseOtherStores(dataDir);
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

/**
 * Refuses the data folder of a server whose objects are elsewhere: it has the identity of the server and no store.
 *
 * @throws {UsageError} which names the programs that back up the other stores.
 */
function refuseOtherStores(dataDir: string): void {
  if (existsSync(storeFolder(dataDir)) || !existsSync(identityFolder(dataDir))) return;
  throw new UsageError(
    `--data-dir ${dataDir}: its server keeps the objects in etcd, PostgreSQL or memory; plinth backup copies the embedded store. ` +
      "Use etcdctl snapshot save for etcd and pg_dump for PostgreSQL, and copy the folder pki with it; see docs/recovery.md",
  );
}
