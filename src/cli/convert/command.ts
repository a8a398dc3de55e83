import { encodePretty } from "../../base/json/encode.ts";
import { isObject, type JsonValue } from "../../base/json/value.ts";
import { FeatureGates } from "../../server/features/feature-gates.ts";
import { yamlText } from "../../http/encodings/yaml.ts";
import { convertManifest, type ConvertedManifest } from "./lists.ts";
import { apiVersionOf, groupVersionOf, targetsIn } from "./registry.ts";
import type { KindContext } from "../../schema/context.ts";
import type { GroupVersion } from "../../schema/types.ts";
import { features } from "../../server/features/features.ts";
import { kubernetes } from "../../vocabulary/kubernetes.ts";
import { platform } from "../../vocabulary/platform.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { vocabularyOf } from "../manifest-vocabulary.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flag-reader.ts";
import { readManifests } from "../manifests.ts";

/** Every flag of `plinth convert`. */
export const convertFlags: readonly Flag[] = [
  {
    name: "filename",
    short: "f",
    type: "list",
    default: "",
    doc: "Manifests: files, folders, or - for standard input; comma separated, or given several times.",
  },
  {
    name: "recursive",
    short: "R",
    type: "boolean",
    default: "",
    doc: "Read the folders within a folder too.",
  },
  {
    name: "output-version",
    type: "string",
    default: "",
    doc: "GROUP/VERSION to convert to; objects of other groups stay as they are. Without it each object goes to its current version.",
  },
  { name: "output", short: "o", type: "string", default: "yaml", doc: "Form of the result: yaml or json." },
  {
    name: "vocabulary",
    type: "string",
    default: "",
    doc: "Names in which the manifests are written: platform or kubernetes; by default those that each of them uses.",
  },
  { name: "verbose", type: "boolean", default: "", doc: "Also say which objects stay as they are, and why." },
];

/** Where a conversion reads from and writes to. */
export interface Streams {
  readonly readInput: () => Promise<Uint8Array>;
  readonly writeOutput: (text: string) => void;
  readonly writeError: (text: string) => void;
}

const about =
  "Writes manifests of older API versions in the current ones, or in a given one, to standard output. What was written out,\n" +
  "couldn't be carried, or must be decided is said on standard error, one line each. Exit code 1 if something can't be converted.";

export const convertCommand: Command = {
  flags: convertFlags,
  help: () =>
    helpText("plinth convert -f FILE [--output-version=GROUP/VERSION] [FLAGS]", about, convertFlags),
  run: (words) =>
    runConvert(words, {
      readInput,
      writeOutput: (text) => void process.stdout.write(text),
      writeError: (text) => void process.stderr.write(text),
    }),
};

/** The bytes of standard input. */
export async function readInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/**
 * Converts what a command line names; gives the exit code.
 *
 * @throws {UsageError}
 */
export async function runConvert(words: readonly string[], streams: Streams): Promise<number> {
  const read = new FlagReader(convertFlags, parseFlags(convertFlags, words));
  const places = read.list("filename");
  if (places.length === 0) throw new UsageError("--filename (-f) says what is to be converted");
  const form = read.choice("output", ["yaml", "json"]);
  const given = read.optional("vocabulary") && read.choice("vocabulary", ["platform", "kubernetes"]);
  const asked = [platform, kubernetes].find(({ name }) => name === given);
  const { home: wanted, vocabulary: implied } = wantedVersion(read.optional("output-version"), asked);
  const recursive = read.boolean("recursive") ?? false;
  const verbose = read.boolean("verbose") ?? false;

  const results: JsonValue[] = [];
  let code = 0;
  const say = (text: string): void => streams.writeError(`${text}\n`);
  for await (const file of readManifests(places, { recursive, readInput: streams.readInput })) {
    if (file.fault !== undefined) {
      say(`${file.name}: ${file.fault}`);
      code = 1;
    }
    const whole = asked ?? vocabularyOf(file.documents.map(({ value }) => value)) ?? implied;
    for (const [index, { value, duplicates }] of file.documents.entries()) {
      const own = asked ?? vocabularyOf(value) ?? whole;
      const result = convertManifest(value, wanted, contextOf(own ?? platform));
      const place = `${file.name}: document ${index + 1}${nameOf(value)}`;
      for (const path of duplicates) say(`${place}: ${path}: given more than once; the last one counts`);
      for (const line of linesOf(result, verbose)) say(`${place}: ${line}`);
      if (own === undefined && vocabularyOf(result.object) !== undefined) say(`${place}: ${guessed}`);
      if (result.notes.some(({ level }) => level === "unresolved")) code = 1;
      results.push(result.object);
    }
  }
  streams.writeOutput(form === "yaml" ? results.map(yamlText).join("---\n") : jsonText(results));
  return code;
}

const guessed =
  "written in platform names, as no name in it tells; --vocabulary=kubernetes writes the others";

/**
 * The version of the flag, and the names in which it is written; neither where the flag isn't given.
 *
 * @throws {UsageError} where nothing could be converted to it.
 */
function wantedVersion(
  text: string | undefined,
  asked: Vocabulary | undefined,
): { readonly home?: GroupVersion; readonly vocabulary?: Vocabulary | undefined } {
  if (text === undefined) return {};
  const flag = `--output-version: ${JSON.stringify(text)}`;
  const possible = asked === undefined ? [platform, kubernetes] : [asked];
  const vocabulary = possible.find((one) => groupVersionOf(text, one) !== undefined);
  if (vocabulary === undefined) {
    const names = possible.map(({ name }) => name).join(" or the ");
    throw new UsageError(`${flag} is no version of a built-in group in the ${names} vocabulary`);
  }
  const home = groupVersionOf(text, vocabulary)!;
  const targets = targetsIn(home.group);
  // A group without a product's name is in every vocabulary, so it tells none.
  if (targets.includes(home.version)) return { home, vocabulary: vocabularyOf({ apiVersion: text }) };
  const names = targets.map((version) => apiVersionOf({ ...home, version }, vocabulary));
  const instead = names.length === 0 ? "nothing is converted to this group" : `there is ${names.join(", ")}`;
  throw new UsageError(`${flag} is no version to convert to; ${instead}`);
}

/** What the kinds' rules may know: the features are those of a server without settings. */
function contextOf(vocabulary: Vocabulary): KindContext {
  return { vocabulary, enabled: FeatureGates.parse("", features).enabled, subresource: "" };
}

/** What people call an object: ` (Deployment web)`. */
function nameOf(value: JsonValue): string {
  if (!isObject(value) || typeof value["kind"] !== "string") return "";
  const { metadata } = value;
  const name = isObject(metadata) && typeof metadata["name"] === "string" ? ` ${metadata["name"]}` : "";
  return ` (${value["kind"]}${name})`;
}

function linesOf({ notes }: ConvertedManifest, verbose: boolean): string[] {
  return notes
    .filter(({ level }) => verbose || level !== "unchanged")
    .map(({ path, text }) => (path === "" ? text : `${path}: ${text}`));
}

function jsonText(results: readonly JsonValue[]): string {
  const [first] = results;
  if (first === undefined) return "";
  const whole = results.length === 1 ? first : { apiVersion: "v1", kind: "List", items: [...results] };
  return `${encodePretty(whole)}\n`;
}
