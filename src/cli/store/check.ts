import { systemClock } from "../../base/time/clock.ts";
import { defaultRelease } from "../../base/releases.ts";
import { readReleaseRecord } from "../../resources/releases/release-record.ts";
import { requireStore } from "../../storage/lmdb/require-store.ts";
import { checkBackup } from "../../storage/lmdb/backup/restore.ts";
import { openLmdbStore } from "../../storage/lmdb/lmdb-store.ts";
import { damagedPageOf } from "../../storage/lmdb/opening-risk.ts";
import type { Store } from "../../storage/store.ts";
import { insideVariable, runApart } from "./check-apart.ts";
import { helpText, type Command } from "../command.ts";
import { defaultDataDir, storeFolder } from "../serve/data-folder.ts";
import { backupFor } from "../backups/series.ts";
import { contentOf } from "../backups/backup-content.ts";
import type { Flag } from "../flags/flag.ts";
import { showingProgress } from "../terminal/progress.ts";
import { FlagReader, parseFlags } from "../flags/flag-reader.ts";

const checkFlags: readonly Flag[] = [
  {
    name: "data-dir",
    type: "string",
    default: defaultDataDir,
    doc: "Data folder of the server, which may be running.",
  },
  {
    name: "backup",
    type: "string",
    default: "",
    doc: "Check this backup instead, or the newest of a folder of backups.",
  },
];

/** Reads all stored data and reports damage. */
export const checkCommand: Command = {
  flags: checkFlags,
  help: () => helpText("plinth check [FLAGS]", "Reads all stored data and reports damage.", checkFlags),
  async run(words) {
    const read = new FlagReader(checkFlags, parseFlags(checkFlags, words));
    const inside = process.env[insideVariable];
    const backup = read.optional("backup");
    if (backup !== undefined) return await checkOneBackup(await backupFor(backup, undefined), inside);
    const dir = storeFolder(read.text("data-dir"));
    await requireStore(dir);
    if (inside === "pages") return checkPages(dir);
    if (inside === "everything") return checkEverything(dir);
    const { code, damage } = await runApart(dir, words, "everything", "inherit");
    if (damage !== undefined) process.stdout.write(`${damage}\n`);
    return code;
  },
};

/** Like a store, a backup is read in a child process. */
async function checkOneBackup(dir: string, inside: string | undefined): Promise<number> {
  if (inside === undefined) {
    const { code, damage } = await runApart(dir, [`--backup=${dir}`], "everything", "inherit");
    if (damage !== undefined) process.stdout.write(`${damage}\n`);
    return code;
  }
  const result = await showingProgress((progress) => checkBackup(dir, progress));
  process.stdout.write(`${dir}: revision ${result.revision}, ${contentOf(result)}: sound\n`);
  return 0;
}

async function checkPages(dir: string): Promise<number> {
  const damage = await damagedPageOf(dir);
  if (damage !== undefined) process.stdout.write(`${damage}\n`);
  return damage === undefined ? 0 : 1;
}

async function checkEverything(dir: string): Promise<number> {
  const store = openLmdbStore({ dir, clock: systemClock, retentionMs: Infinity });
  try {
    const damage = await showingProgress((progress) => store.check(progress));
    for (const line of damage) process.stdout.write(`${line}\n`);
    if (damage.length === 0) await printReleases(store);
    process.stdout.write(
      `revision ${String(await store.latestRevision())}: ${damage.length === 0 ? "sound" : "damaged"}\n`,
    );
    return damage.length === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}

/** Prints which releases wrote to a store, if they aren't the reference release alone. */
async function printReleases(store: Store): Promise<void> {
  const { oldest, newest } = await readReleaseRecord(store, defaultRelease);
  if (newest !== defaultRelease) process.stdout.write(`written by releases ${oldest} to ${newest}\n`);
}
