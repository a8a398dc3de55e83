import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Logger } from "../base/logger.ts";
import { openingRisk } from "../storage/lmdb/opening-risk.ts";
import { StoreDamagedError } from "../storage/store.ts";

/** Set for the process that does the reading, to what it reads. */
export const insideVariable = "PLINTH_CHECK_INSIDE";

/** All that is stored, or the pages of the file alone. */
type Extent = "everything" | "pages";

const damageSignals: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSEGV",
]);

/** How a check in a process of its own ended. */
export interface CheckEnd {
  readonly code: number;
  /** What a signal that ended it says about the store. */
  readonly damage: string | undefined;
  /** What it wrote, where that was asked for. */
  readonly output: string;
}

/**
 * Runs `plinth check` in a process of its own: damage may end the process that comes across it by a signal.
 *
 * @param dir the folder of the store.
 * @param words the flags of the command.
 * @param output what happens to what it writes: it is given back, or goes to this process's own output.
 */
export async function runApart(
  dir: string,
  words: readonly string[],
  extent: Extent,
  output: "pipe" | "inherit",
): Promise<CheckEnd> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, "check", ...words], {
    stdio: ["ignore", output, output],
    env: { ...process.env, [insideVariable]: extent },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (signal === null) return { code: code ?? 1, damage: undefined, output: text };
  const damage = damageSignals.has(signal)
    ? `${dir} is damaged: reading it ended a process by ${signal}; restore a backup into an empty folder`
    : `the check of ${dir} was ended by ${signal}`;
  return { code: 1, damage, output: text };
}

/**
 * Has another process open a store first, and look through all pages of its file, where opening it is a risk. After an orderly
 * end there is none, and nothing is done.
 *
 * @param dir the folder of the store.
 * @throws {StoreDamagedError} the store is damaged; the message is that of the check.
 */
export async function refuseDamagedStore(dir: string, dataDir: string, log: Logger): Promise<void> {
  const risk = openingRisk(dir);
  if (risk === undefined) return;
  log.info({ folder: dir, reason: risk }, "the store is opened in another process first");
  const { code, damage, output } = await runApart(dir, [`--data-dir=${dataDir}`], "pages", "pipe");
  if (code === 0) return;
  const report = damage ?? output.trim().replace(/^plinth: /, "");
  throw new StoreDamagedError(
    report.includes(dir) ? report : `${dir} is damaged: ${report}; restore a backup into an empty folder`,
  );
}
