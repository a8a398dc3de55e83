#!/usr/bin/env node
import { commands } from "./commands.ts";

/** Exit codes: 0 done, 1 failed, 2 wrong usage. */
async function main(words: readonly string[]): Promise<number> {
  const [name = "help", ...rest] = words;
  const entry = commands.find((one) => one.name === name);
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
    if (!rest.includes("--help") && !rest.includes("-h")) return await loaded.run(rest);
    process.stdout.write(loaded.help());
    return 0;
  } catch (error) {
    process.stderr.write(`plinth: ${messageOf(error)}\n`);
    return error instanceof Error && ["UsageError", "OptionsError"].includes(error.name) ? 2 : 1;
  }
}

/** What went wrong, for people: only a defect shows where it happened. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const operational = [
    "UsageError",
    "OptionsError",
    "StartError",
    "StoreDamagedError",
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
