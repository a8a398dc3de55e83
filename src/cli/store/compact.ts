import { systemClock } from "../../base/time/clock.ts";
import { defaultRetentionMs } from "../../storage/options.ts";
import { requireStore } from "../../storage/lmdb/require-store.ts";
import { retentionOf } from "../../storage/lmdb/retention.ts";
import { shrinkLmdb } from "../../storage/lmdb/shrink.ts";
import { helpText, type Command } from "../command.ts";
import { defaultDataDir, storeFolder } from "../serve/data-folder.ts";
import type { Flag } from "../flags/flag.ts";
import { showingProgress } from "../terminal/progress.ts";
import { FlagReader, parseFlags } from "../flags/flag-reader.ts";

const compactFlags: readonly Flag[] = [
  {
    name: "data-dir",
    type: "string",
    default: defaultDataDir,
    doc: "Data folder of the server, which must not be running.",
  },
];

const about = `Gives room that isn't in use back to the disk: a running server drops history by itself and fills
the room that this leaves, but its file never gets smaller. The disk needs room for the objects once more.`;

/** Shrinks the file of a store to its content. */
export const compactCommand: Command = {
  flags: compactFlags,
  help: () => helpText("plinth compact [FLAGS]", about, compactFlags),
  async run(words) {
    const dataDir = new FlagReader(compactFlags, parseFlags(compactFlags, words)).text("data-dir");
    const folder = storeFolder(dataDir);
    await requireStore(folder);
    const retentionMs = (await retentionOf(folder)) ?? defaultRetentionMs;
    const { before, after } = await showingProgress((progress) =>
      shrinkLmdb(folder, systemClock.now() - retentionMs, progress),
    );
    process.stdout.write(`compacted ${dataDir}: ${megabytes(before)} before, ${megabytes(after)} now\n`);
    return 0;
  },
};

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
