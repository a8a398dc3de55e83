import { once } from "node:events";
import type { Logger } from "../../base/logger.ts";
import { openingRisk } from "../../storage/lmdb/opening-risk.ts";
import { StoreDamagedError } from "../../storage/store.ts";
import { spawnProgram } from "../serve/own-process.ts";

/** Environment variable of the checking process; its value is the extent. */
export const insideVariable = "PLINTH_CHECK_INSIDE";

/** Whether all objects are read, or only the pages of the file. */
type Extent = "everything" | "pages";

const damageSignals: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSEGV",
]);

/** The result of a check in a process of its own. */
export interface CheckEnd {
  readonly code: number;
  /** Message about the signal that ended the process; undefined if it exited. */
  readonly damage: string | undefined;
  /** Its output, if `output` is `pipe`. */
  readonly output: string;
}

/**
 * Runs `plinth check` in a child process, because reading a damaged store may end the process by a signal.
 *
 * @param dir the folder of the store.
 * @param words the flags of the command.
 * @param output whether the output is returned, or written to this process's output.
 */
export async function runApart(
  dir: string,
  words: readonly string[],
  extent: Extent,
  output: "pipe" | "inherit",
): Promise<CheckEnd> {
  const child = spawnProgram(["check", ...words], {
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
 * Lets a child process open the store and read all pages of its file if opening is risky. Does nothing after an
 * orderly shutdown.
 *
 * @param dir the folder of the store.
 * @throws {StoreDamagedError} if the store is damaged; the message is that of the check.
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
