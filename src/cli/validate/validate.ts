import { systemClock } from "../../base/time/clock.ts";
import type { ValidationReport } from "../../server/validation/problem.ts";
import { validateEntries } from "../../server/validation/validate.ts";
import { helpText, type Command } from "../command.ts";
import { readInput, type Streams } from "../terminal/streams.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { productVersion } from "../product-version.ts";
import { usesColor } from "../terminal/terminal.ts";
import { ManifestInput } from "./manifest-input.ts";
import { contextReader } from "./context-reader.ts";
import { githubReporter } from "./reporters/github.ts";
import { jsonReporter } from "./reporters/json.ts";
import { junitReporter } from "./reporters/junit.ts";
import { nameReporter } from "./reporters/name.ts";
import { summaryOf, type Reporter } from "./reporters/reporter.ts";
import { sarifReporter } from "./reporters/sarif.ts";
import { textReporter } from "./reporters/text.ts";
import { formats, validateFlags, validatorOptionsOf } from "./validate-flags.ts";
import { whenFilesChange } from "./watch-files.ts";

const about = `Judges manifests as an API server would, without a running server: schema, rules, policies, quotas, pod security
and rights. Definitions, namespaces, policies, roles, quotas and classes among the manifests count for the others.

Exit code 0 if every object is accepted, 1 if one is rejected or can't be read, 2 for wrong usage.`;

/** The reporters by the values of `--output`. */
export const reporters: Readonly<Record<(typeof formats)[number], Reporter>> = {
  text: textReporter,
  json: jsonReporter,
  junit: junitReporter,
  sarif: sarifReporter,
  github: githubReporter,
  name: nameReporter,
};

/** Validates manifests. */
export const validateCommand: Command = {
  flags: validateFlags,
  help: () => helpText("plinth validate [FILES|FOLDERS|-] [FLAGS]", about, validateFlags),
  run: (words) =>
    runValidate(words, process.env, {
      readInput,
      writeOutput: (text) => void process.stdout.write(text),
      writeError: (text) => void process.stderr.write(text),
    }),
};

/**
 * Runs the command.
 *
 * @param stop ends `--watch`; by default it runs until the process ends.
 * @returns the exit code
 * @throws {UsageError} @throws {ClientError}
 */
export async function runValidate(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  streams: Streams,
  stop?: AbortSignal,
): Promise<number> {
  const others: string[] = [];
  const read = new FlagReader(validateFlags, parseFlags(validateFlags, words, others));
  const sources = sourcesOf(read, others);
  const options = validatorOptionsOf(read);
  const format = read.choice("output", formats);
  const isWatching = read.boolean("watch") === true;
  if (isWatching && sources.includes("-")) throw new UsageError("--watch: standard input can't be watched");
  const context = await contextReader(read, environment, streams);
  const color = process.stdout.isTTY === true && usesColor(environment);
  const run = async (): Promise<number> => {
    const startMs = systemClock.monotonicNow();
    const input = new ManifestInput(sources, streams.readInput);
    const report = await validateEntries(options, { entries: input.entries, context: await context() });
    const problems = report.objects.flatMap((one) => one.problems);
    const lineAt = await input.readLines(
      format === "text" ? problems.flatMap(({ location }) => location ?? []) : [],
    );
    const durationMs = systemClock.monotonicNow() - startMs;
    streams.writeOutput(reporters[format](report, { color, lineAt, version: productVersion, durationMs }));
    return exitCode(report);
  };
  const code = await run();
  if (!isWatching) return code;
  const watched = [...sources, ...read.list("with"), ...read.list("policy")];
  return whenFilesChange(watched, run, stop, () => streams.writeError("watching for changes\n"));
}

/** Returns the manifests of the command line. @throws {UsageError} without any. */
export function sourcesOf(read: FlagReader, others: readonly string[]): readonly string[] {
  const sources = [...read.list("filename"), ...others];
  if (sources.length === 0)
    throw new UsageError("name the manifests: files, folders, or - for standard input");
  return sources;
}

/** Returns the exit code of a report: 1 if it has an error, or no object. */
export function exitCode(report: ValidationReport): number {
  return summaryOf(report).rejected === 0 && report.objects.length > 0 ? 0 : 1;
}
