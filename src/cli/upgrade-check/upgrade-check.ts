import { systemClock } from "../../base/time/clock.ts";
import { checkUpgrade, releasesBetween } from "../../server/validation/upgrade.ts";
import type { ValidationReport } from "../../server/validation/problem.ts";
import type { ValidationSources } from "../../server/validation/validate.ts";
import { accessFlags, accessOf } from "../client/access-flags.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { groupVersionOf, targetsIn } from "../convert/registry.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { productVersion } from "../product-version.ts";
import { readInput, type Streams } from "../terminal/streams.ts";
import { usesColor } from "../terminal/terminal.ts";
import { contextReader } from "../validate/context-reader.ts";
import { ManifestInput } from "../validate/manifest-input.ts";
import { exitCode, reporters } from "../validate/validate.ts";
import { formats, inputFlags, releaseOf, vocabularyOf } from "../validate/validate-flags.ts";
import { gateChanges } from "./gate-changes.ts";
import { requestLines, requestsInLogs } from "./audited-clients.ts";
import { deprecatedRequests, objectsOfServer } from "./server-objects.ts";

const about = `Lists what an upgrade of the API release changes for manifests, or for the objects of a running server: removed and
deprecated versions, fields that are unknown or dropped, rules that became stricter, new warnings, and defaults that differ, each with
the release from which on it is so.

Exit code 0 if all releases accept every object, 1 if one rejects an object, an object can't be read, or a client of an audit log requests a
removed version, 2 for wrong usage.`;

/** Every flag of `plinth upgrade-check`. */
export const upgradeCheckFlags: readonly Flag[] = [
  { name: "from", type: "string", default: "", doc: "Release before the upgrade." },
  {
    name: "to",
    type: "string",
    default: "",
    doc: "Release after the upgrade; those between are checked too.",
  },
  {
    name: "audit-log",
    type: "list",
    default: "",
    doc: "Audit logs (JSON lines, also with .gz) of the server, in which clients of removed and deprecated versions are looked up.",
  },
  ...inputFlags,
  {
    name: "output",
    short: "o",
    type: "string",
    default: "text",
    doc: `Output format: ${formats.join(", ")}.`,
  },
];

/** Checks an upgrade. */
export const upgradeCheckCommand: Command = {
  flags: upgradeCheckFlags,
  help: () =>
    helpText(
      "plinth upgrade-check --from=RELEASE --to=RELEASE FILES|FOLDERS|- | --server=URL | --kubeconfig=FILE",
      about,
      upgradeCheckFlags,
    ),
  run: (words) =>
    runUpgradeCheck(words, process.env, {
      readInput,
      writeOutput: (text) => void process.stdout.write(text),
      writeError: (text) => void process.stderr.write(text),
    }),
};

/**
 * Runs the command.
 *
 * @returns the exit code
 * @throws {UsageError} @throws {ClientError}
 */
export async function runUpgradeCheck(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  streams: Streams,
): Promise<number> {
  const others: string[] = [];
  const read = new FlagReader(upgradeCheckFlags, parseFlags(upgradeCheckFlags, words, others));
  const from = releaseOf("from", read.required("from"));
  const to = releaseOf("to", read.required("to"));
  const releases = releasesBetween(from, to);
  if (releases.length < 2) throw new UsageError(`--to: ${to} is not later than --from ${from}`);
  const format = read.choice("output", formats);
  const sources = [...read.list("filename"), ...others];
  const usesServer = accessFlags.some(({ name }) => read.flagNames.includes(name));
  const auditLogs = read.list("audit-log");
  if (sources.length === 0 && !usesServer && auditLogs.length === 0)
    throw new UsageError("name the manifests, a server by --server or --kubeconfig, or an --audit-log");
  const startMs = systemClock.monotonicNow();
  const input = new ManifestInput(sources, streams.readInput);
  const context = await contextReader(read, environment, streams);
  const note = (text: string) => streams.writeError(`${text}\n`);
  const access = sources.length === 0 && usesServer ? await accessOf(read, environment) : undefined;
  const entries: ValidationSources["entries"] =
    access === undefined ? input.entries : await objectsOfServer(access, note);
  const options = {
    releases,
    vocabulary: vocabularyOf(read),
    namespace: read.required("namespace"),
    podSecurity: undefined,
    user: undefined,
    groups: [],
    acceptsUnknownKinds: false,
  };
  const hasObjects = sources.length > 0 || access !== undefined;
  const report = hasObjects
    ? withConversions(await checkUpgrade(options, { entries, context: await context() }), options.vocabulary)
    : { accepted: true, releases: releases.slice(1), objects: [] };
  const problems = report.objects.flatMap((one) => one.problems);
  const lineAt = await input.readLines(
    format === "text" ? problems.flatMap(({ location }) => location ?? []) : [],
  );
  const color = process.stdout.isTTY === true && usesColor(environment);
  const requests = await requestsInLogs(auditLogs, { from, to, vocabulary: options.vocabulary }, note);
  const durationMs = systemClock.monotonicNow() - startMs;
  const details = { color, lineAt, version: productVersion, durationMs };
  streams.writeOutput(reporters[format](report, { ...details, ...(auditLogs.length > 0 && { requests }) }));
  if (format === "text") {
    const served = access === undefined ? [] : await deprecatedRequests(access, note);
    const lines = [...requestLines(requests), ...served, ...gateChanges(from, to)];
    streams.writeOutput(lines.map((line) => `${line}\n`).join(""));
  }
  if (requests.clients.some(({ removed }) => removed !== undefined)) return 1;
  return hasObjects ? exitCode(report) : 0;
}

/** Adds to the problems of removed versions that `plinth convert` writes the version that replaces them. */
function withConversions(report: ValidationReport, vocabulary: Vocabulary): ValidationReport {
  const isConverted = (message: string): boolean => {
    const apiVersion = /; use (\S+) /.exec(message)?.[1];
    const target = apiVersion === undefined ? undefined : groupVersionOf(apiVersion, vocabulary);
    return target !== undefined && targetsIn(target.group).includes(target.version);
  };
  const objects = report.objects.map((object) => ({
    ...object,
    problems: object.problems.map((problem) =>
      problem.rule === "kind" && isConverted(problem.message)
        ? { ...problem, message: `${problem.message}; plinth convert writes it` }
        : problem,
    ),
  }));
  return { ...report, objects };
}
