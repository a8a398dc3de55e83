import { setTimeout as delay } from "node:timers/promises";
import { administratorFile } from "./serve/administrator-file.ts";
import { accessFlags, accessOf } from "./client/access-flags.ts";
import { ClientError } from "./client/client-error.ts";
import { messageOf, ServerClient } from "./client/server-client.ts";
import { helpText, type Command } from "./command.ts";
import { defaultDataDir } from "./serve/data-folder.ts";
import type { Flag } from "./flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "./flags/flag-reader.ts";

/** Time limits of one request: the longest, and the one for a request at the end of `--timeout`. */
const requestMs = 5000;
const lastRequestMs = 1000;

/** Time between two requests. */
const intervalMs = 200;

const readyFlags: readonly Flag[] = [
  {
    name: "data-dir",
    type: "string",
    default: defaultDataDir,
    doc: "Data folder of the server; admin.kubeconfig in it has the address and the credentials.",
  },
  {
    name: "timeout",
    type: "duration",
    default: "30s",
    doc: "Keep asking for this time; 0s asks once.",
  },
  ...accessFlags.map((flag) =>
    flag.name === "kubeconfig" ? { ...flag, doc: "Kubeconfig of the server, instead of --data-dir." } : flag,
  ),
];

const about = "Waits until a server is ready (/readyz), for health checks and scripts.";

/** Waits until a server is ready; the exit code is 1 if it isn't when the time has passed. */
export const readyCommand: Command = {
  flags: readyFlags,
  help: () => helpText("plinth ready [FLAGS]", about, readyFlags),
  async run(words) {
    const values = parseFlags(readyFlags, words);
    const timeoutMs = new FlagReader(readyFlags, values).durationMs("timeout");
    const deadline = performance.now() + timeoutMs;
    const read = new FlagReader(readyFlags, withKubeconfig(values));
    for (;;) {
      const leftMs = timeoutMs === 0 ? requestMs : deadline - performance.now();
      const problem = await problemOf(read, Math.min(requestMs, Math.max(lastRequestMs, leftMs)));
      if (problem === undefined) return 0;
      const remainingMs = deadline - performance.now();
      if (remainingMs <= 0) throw new ClientError(problem);
      await delay(Math.min(intervalMs, remainingMs));
    }
  },
};

/** Adds the kubeconfig of the data folder unless a server or a kubeconfig is set. */
function withKubeconfig(values: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const dataDir = values.get("data-dir");
  const other = ["server", "kubeconfig"].find((name) => values.has(name));
  if (other === undefined)
    return new Map([...values, ["kubeconfig", administratorFile(dataDir ?? defaultDataDir)]]);
  if (dataDir !== undefined) throw new UsageError(`--data-dir and --${other} exclude each other`);
  return values;
}

/** Asks the server once. @returns why it is not ready; undefined if it is ready */
async function problemOf(read: FlagReader, timeoutMs: number): Promise<string | undefined> {
  try {
    // The kubeconfig is read each time: a server that starts writes it.
    const access = await accessOf(read, {});
    const client = new ServerClient(access);
    try {
      const { status, text } = await client.text("/readyz", timeoutMs);
      if (status === 200) return undefined;
      if (status === 401 || status === 403)
        return `${access.server} refuses the request: /readyz answers ${status}: ${messageOf(text)}; check the credentials (--data-dir, --kubeconfig or --token)`;
      return `${access.server} is not ready: /readyz answers ${status}: ${reasonOf(text)}`;
    } finally {
      client.close();
    }
  } catch (error) {
    if (error instanceof ClientError) return error.message;
    throw error;
  }
}

/** Returns the failed checks of a response, or its message; at most 300 characters. */
function reasonOf(text: string): string {
  const failed = text.split("\n").filter((line) => line.startsWith("[-]"));
  return (failed.length === 0 ? messageOf(text) : failed.join("; ")).slice(0, 300).trim();
}
