import { similarName } from "../base/similar-name.ts";
import { assetCommands, commands } from "./commands.ts";
import { endQuietlyWithReaders } from "./terminal/pipes.ts";

/** The oldest major version of Node on which the program runs. */
const minNodeVersion = 20;

/**
 * Runs a command line to its end; of a server, until it stops.
 *
 * @param words the words behind the name of the program.
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage.
 */
export async function runProgram(words: readonly string[]): Promise<number> {
  // Checked before a command is loaded, because older versions can't parse its code.
  if (Number(process.versions.node.split(".")[0]) < minNodeVersion) {
    process.stderr.write(`plinth needs Node ${minNodeVersion} or newer; this is ${process.version}\n`);
    return 1;
  }
  const { name, rest, asksForHelp } = invocationOf(words);
  const entry = [...commands, ...assetCommands].find((one) => one.name === name);
  // A server keeps running when the reader of its output exits.
  if (entry?.serves !== true || asksForHelp) endQuietlyWithReaders();
  if (name === "help") {
    process.stdout.write(overview());
    return 0;
  }
  if (entry === undefined) {
    const similar = similarName(name, ["help", ...commands.map((one) => one.name)]);
    const hint = similar === undefined ? "see plinth help" : `did you mean plinth ${similar}?`;
    process.stderr.write(`plinth: there is no command ${JSON.stringify(name)}; ${hint}\n`);
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

/** What a command line asks for. */
interface Invocation {
  /** Name of the command, or `help` for the overview. */
  readonly name: string;
  /** The words behind the name. */
  readonly rest: readonly string[];
  readonly asksForHelp: boolean;
}

/** Parses the first words: without a command the server runs, and flags alone are its flags. */
function invocationOf(words: readonly string[]): Invocation {
  const [first, second, ...others] = words;
  const isHelp = (word: string) => word === "--help" || word === "-h";
  if (first === undefined) return { name: "serve", rest: [], asksForHelp: false };
  if (first === "-v" || first === "--version") return { name: "version", rest: [], asksForHelp: false };
  if (first === "help" || isHelp(first)) {
    const isOverview = second === undefined || isHelp(second);
    return { name: isOverview ? "help" : second, rest: others, asksForHelp: true };
  }
  const rest = words.slice(1);
  if (!first.startsWith("-")) return { name: first, rest, asksForHelp: rest.some(isHelp) };
  return { name: "serve", rest: words, asksForHelp: words.some(isHelp) };
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
    "EncryptionError",
    "EncryptedValueError",
    "KeyServiceError",
    "StatusError",
    "ClientError",
  ];
  if (operational.includes(error.name) || "code" in error) return error.message;
  return error.stack ?? error.message;
}

function overview(): string {
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(15)}${summary}`);
  return `Plinth: a resource API server.

Usage: plinth [COMMAND] [FLAGS]

${lines.join("\n")}

Without a command it runs the server. "plinth help COMMAND" shows the flags of a command.
`;
}
