import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { spawnProgram } from "../serve/own-process.ts";

/** Maximum length of the message of a failed backup that is kept. */
const maxMessageLength = 4096;

/** Environment variable of a backup whose server ends it; other programs that run `plinth backup` can have a channel to it too. */
export const serverVariable = "PLINTH_BACKUP_OF_SERVER";

/**
 * Runs `plinth backup` in a child process with the lowest priority: it reads the whole copy to verify it, and reading a damaged store may
 * end a process by a signal. It ends with this process, also if that is killed: the next server could be making a backup in the same
 * folder, or its data folder could be another one; see {@link endWithServer}.
 *
 * @param signal ends the process; it isn't aborted yet.
 * @throws {Error} if the backup fails, with the message of the command.
 */
export async function backUpApart(dataDir: string, target: string, signal: AbortSignal): Promise<void> {
  const words = ["backup", `--data-dir=${dataDir}`, `--to=${target}`];
  // In a process group of its own: Ctrl-C is for the server, which then ends the child.
  const child = spawnProgram(words, {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    detached: true,
    env: { ...process.env, [serverVariable]: String(process.pid) },
  });
  const end = (): void => void child.kill();
  signal.addEventListener("abort", end);
  if (child.pid !== undefined) lowerPriority(child.pid);
  let message = "";
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
    message = (message + chunk).slice(-maxMessageLength);
  });
  const [code, killedBy] = (await once(child, "close").finally(() =>
    signal.removeEventListener("abort", end),
  )) as [number | null, NodeJS.Signals | null];
  if (code === 0) return;
  const reason = message.trim().replace(/^plinth: /, "");
  throw new Error(reason === "" ? `plinth backup ended by ${killedBy ?? `exit code ${code}`}` : reason);
}

/** Ends this process when the server that runs it by {@link backUpApart} has ended. */
export function endWithServer(): void {
  if (process.env[serverVariable] === undefined || process.send === undefined) return;
  const end = (): never => process.exit(1);
  if (!process.connected) end();
  process.once("disconnect", end);
  process.channel!.unref();
}

/** The process may have ended already; it then runs with its normal priority. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch (error) {
    if ((error as { info?: { code?: string } }).info?.code !== "ESRCH") throw error;
  }
}
