import { resolve } from "node:path";
import type { BackupResult } from "../../storage/lmdb/backup/backup.ts";
import { identityFolder } from "../serve/data-folder.ts";

/** Returns the folder and files of the server's CA and keys. */
export function identityOf(dataDir: string) {
  return [{ name: "pki", dir: resolve(identityFolder(dataDir)) }];
}

/** Describes the content of a backup for the output of a command. */
export function contentOf({ files }: Pick<BackupResult, "files">): string {
  return files.length === 0
    ? "the objects; the data folder has no keys of the server"
    : `the objects, and the server's authority and keys (${files.join(", ")})`;
}
