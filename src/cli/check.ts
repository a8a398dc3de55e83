import { spawn } from "node:child_process";
import { once } from "node:events";
import { systemClock } from "../base/clock.ts";
import { requireStore } from "../storage/lmdb/backup.ts";
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
    const dir = storeFolder(new FlagReader(checkFlags, parseFlags(checkFlags, words)).text("data-dir"));
    await requireStore(dir);
    return process.env[insideVariable] === undefined ? checkApart(dir, words) : checkHere(dir);
  },
};

/** Set for the process that does the reading. */
const insideVariable = "PLINTH_CHECK_INSIDE";

/** Damage may end the process that comes across it by a signal; so another one reads, and this one tells. */
async function checkApart(dir: string, words: readonly string[]): Promise<number> {
  const script = process.argv[1]!;
  const child = spawn(process.execPath, [...process.execArgv, script, "check", ...words], {
    stdio: "inherit",
    env: { ...process.env, [insideVariable]: "1" },
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  if (signal === null) return code ?? 1;
  const told = damageSignals.has(signal)
    ? `${dir} is damaged: reading it ended a process by ${signal}; restore a backup into an empty folder`
    : `the check of ${dir} was ended by ${signal}`;
  process.stdout.write(`${told}\n`);
  return 1;
}

const damageSignals: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSEGV",
]);

async function checkHere(dir: string): Promise<number> {
  const store = openLmdbStore({ dir, clock: systemClock, retentionMs: Infinity });
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
}
