import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { accessFlags, accessOf } from "../client/access-flags.ts";
import { ServerClient } from "../client/server-client.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags } from "../flags/flag-reader.ts";
import { redirectPage } from "./redirect-page.ts";

const consoleFlags: readonly Flag[] = [
  {
    name: "open",
    type: "boolean",
    default: "true",
    doc: "Open the browser; otherwise only print the address.",
  },
  ...accessFlags,
];

const about = `Opens the web console of a running server, logged in as the administrator of the kubeconfig.
The server creates a code that is valid for a minute and for one login; the session that begins with it ends after an hour.`;

/** Time after which the browser has read the file that leads it to the console. */
const browserStartMs = 10_000;

/** Creates a one-time code and opens the console with it. */
export const consoleCommand: Command = {
  flags: consoleFlags,
  help: () => helpText("plinth console [FLAGS]", about, consoleFlags),
  run: (words) =>
    runConsole(words, process.env, {
      write: (text) => void process.stdout.write(text),
      openFile: openWithSystem,
      wait: () => sleep(browserStartMs),
    }),
};

/** What the command does outside of this process. */
export interface ConsoleEffects {
  readonly write: (text: string) => void;
  /** Opens a file in the browser; false if there is none. */
  readonly openFile: (file: string) => Promise<boolean>;
  /** Waits until the browser has read the file. */
  readonly wait: () => Promise<unknown>;
}

/**
 * Runs the command.
 *
 * @returns the exit code
 * @throws {UsageError} @throws {ClientError}
 */
export async function runConsole(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  effects: ConsoleEffects,
): Promise<number> {
  const read = new FlagReader(consoleFlags, parseFlags(consoleFlags, words));
  const access = await accessOf(read, environment);
  const client = new ServerClient(access);
  try {
    const { code, lifeSeconds } = await client.post("/console/codes", {});
    const url = `${access.server.replace(/\/$/, "")}/console/#code=${String(code)}`;
    effects.write(`${url}\nvalid for ${String(lifeSeconds)} seconds and one login\n`);
    if (read.boolean("open") === true) await openBrowser(url, effects);
    return 0;
  } finally {
    client.close();
  }
}

/**
 * Opens the browser. Its command line has the path of a private file that leads to the address, because other users of the machine can
 * read command lines.
 */
async function openBrowser(url: string, { write, openFile, wait }: ConsoleEffects): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "plinth-console-"));
  try {
    const file = path.join(folder, "console.html");
    await writeFile(file, redirectPage(url), { mode: 0o600 });
    if (await openFile(file)) await wait();
    else write("no browser was found: open the address above\n");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts the program of the system that opens files; false if it can't be started. */
function openWithSystem(file: string): Promise<boolean> {
  const [program, ...words] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program!, [...words, file], { stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["open"],
  win32: ["explorer.exe"],
};
