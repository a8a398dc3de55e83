import { systemClock } from "../base/clock.ts";
import { openLmdbStore } from "../storage/lmdb/lmdb-store.ts";
import { helpText, type Command } from "./command.ts";
import { storeFolder } from "./data-folder.ts";
import type { Flag } from "./flag.ts";
import { FlagReader, parseFlags } from "./flag-reader.ts";

const checkFlags: readonly Flag[] = [
  {
    name: "data-dir",
    type: "string",
    default: ".plinth",
    doc: "Data folder of the server, which may be running.",
  },
];

/** Reads everything that is stored once and says what is damaged. */
export const checkCommand: Command = {
  help: () =>
    helpText("plinth check [FLAGS]", "Reads everything that is stored and says what is damaged.", checkFlags),
  async run(words) {
    const read = new FlagReader(checkFlags, parseFlags(checkFlags, words));
    const store = openLmdbStore({ dir: storeFolder(read.text("data-dir")), clock: systemClock });
    try {
      const damage = await store.check();
      for (const line of damage) process.stdout.write(`${line}\n`);
      process.stdout.write(
        `revision ${String(await store.latestRevision())}: ${damage.length === 0 ? "sound" : "damaged"}\n`,
      );
      return damage.length === 0 ? 0 : 1;
    } finally {
      await store.close();
    }
  },
};
