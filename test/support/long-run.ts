import { parseArgs } from "node:util";

/** The flags of a long test run by name: a number, a text, or a switch. */
type Flags = Readonly<Record<string, number | string | boolean>>;

/** The values of the flags; a default of `false` is a switch, an empty text means that the flag is absent. */
type Values<F extends Flags> = {
  readonly [K in keyof F]: F[K] extends number ? number : F[K] extends boolean ? boolean : string;
};

/**
 * Reads the command line of a long test run.
 *
 * @param defaults the default of each flag; numbers must be above 0.
 * @throws {Error} the message names the flag and the allowed values.
 */
export function readFlags<const F extends Flags>(args: readonly string[], defaults: F): Values<F> {
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(defaults).map(([name, value]) => [
        name,
        { type: typeof value === "boolean" ? ("boolean" as const) : ("string" as const) },
      ]),
    ),
  });
  const entries = Object.entries(defaults).map(([name, value]) => {
    const text = values[name];
    return [name, text === undefined ? value : typeof value === "number" ? numberOf(name, text) : text];
  });
  return Object.fromEntries(entries) as Values<F>;
}

function numberOf(name: string, text: string | boolean): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name}: ${JSON.stringify(text)} is not a number above 0`);
  return value;
}

/**
 * Runs the main function of a command: prints the usage for `--help`, and the message of an error that it throws, with exit code 1.
 */
export async function runCommand(
  usage: string,
  run: (args: readonly string[]) => Promise<void>,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return void process.stdout.write(usage);
  try {
    await run(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

/** Returns a quantile of the values, from 0 to 1. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
