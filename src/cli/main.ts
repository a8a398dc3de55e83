#!/usr/bin/env node
import { assetCommands, commands } from "./commands.ts";
import { endQuietlyWithReaders } from "./pipes.ts";

/** The oldest major version of Node on which the program runs. */
const minNodeVersion = 20;

/** Exit codes: 0 done, 1 failed, 2 wrong usage. */
async function main(words: readonly string[]): Promise<number> {
  // Checked before a command is loaded, because older versions can't parse its code.
  if (Number(process.versions.node.split(".")[0]) < minNodeVersion) {
    process.stderr.write(`plinth needs Node ${minNodeVersion} or newer; this is ${process.version}\n`);
    return 1;
  }
  const [name = "help", ...rest] = words;
  const asksForHelp = rest.includes("--help") || rest.includes("-h");
  const entry = [...commands, ...assetCommands].find((one) => one.name === name);
  // A server keeps running when the reader of its output exits.
  if (entry?.serves !== true || asksForHelp) endQuietlyWithReaders();
  if (name === "help" || name === "--help" || name === "-h") {
    process.stdout.write(overview());
    return 0;
  }
  if (entry === undefined) {
    process.stderr.write(`plinth: there is no command ${JSON.stringify(name)}; see plinth help\n`);
    return 2;
  }
  try {
    const loaded = await entry.load();
    if (!asksForHelp) return await loaded.run(rest);
    process.stdout.write(loaded.help());
    return 0;
  } catch (error) {
    process.stderr.write(`plinth: ${messageOf(error)}\n`);
    return error instanceof Error && ["UsageError", "OptionsError"].includes(error.name) ? 2 : 1;
  }
}

/** Returns the message of an error for users; only bugs have a stack. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const operational = [
    "UsageError",
    "OptionsError",
    "StartError",
    "StoreDamagedError",
    "StoreValueError",
    "StoreUnavailableError",
    "StoreFullError",
    "StoreTimeoutError",
    "StatusError",
    "ClientError",
  ];
  if (operational.includes(error.name) || "code" in error) return error.message;
  return error.stack ?? error.message;
}

function overview(): string {
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(12)}${summary}`);
  return `Plinth: a resource API server.\n\nUsage: plinth COMMAND [FLAGS]\n\n${lines.join("\n")}\n\nplinth COMMAND --help shows the flags.\n`;
}

process.exitCode = await main(process.argv.slice(2));
