import { encodePretty } from "../../base/json/encode.ts";
import { isObject, type JsonValue, type JsonObject } from "../../base/json/value.ts";
import { defaultRelease } from "../../base/releases.ts";
import { yamlText } from "../../http/encodings/yaml.ts";
import { apiVersionOf, groupVersionOf, targetsIn } from "./registry.ts";
import type { KindContext } from "../../schema/context.ts";
import type { GroupVersion } from "../../schema/types.ts";
import { gatesOfRelease } from "../../server/features/features.ts";
import { kubernetes } from "../../vocabulary/kubernetes.ts";
import { platform } from "../../vocabulary/platform.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { vocabularyOf } from "../manifest-vocabulary.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { convertDataFolder } from "./data-folder/command.ts";
import { showingProgress } from "../terminal/progress.ts";
import { readInput, type Streams } from "../terminal/streams.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { readManifests } from "../../base/manifests.ts";
import { convertObject, type Converted } from "./convert.ts";
import type { Note } from "./notes.ts";

/** Every flag of `plinth convert`. */
export const convertFlags: readonly Flag[] = [
  {
    name: "filename",
    short: "f",
    type: "list",
    default: "",
    doc: "Manifests: files, folders, or - for standard input; comma-separated; the flag may be repeated.",
  },
  {
    name: "recursive",
    short: "R",
    type: "boolean",
    default: "",
    doc: "Also read subfolders.",
  },
  {
    name: "output-version",
    type: "string",
    default: "",
    doc: "GROUP/VERSION to convert to; objects of other groups stay as they are. by default each object is converted to its current version.",
  },
  { name: "output", short: "o", type: "string", default: "yaml", doc: "Output format: yaml or json." },
  {
    name: "vocabulary",
    type: "string",
    default: "",
    doc: "Vocabulary of the manifests, or of the data folder afterwards: platform or kubernetes; by default it is detected from the names of the manifests.",
  },
  {
    name: "data-dir",
    type: "string",
    default: "",
    doc: "Convert a data folder to --vocabulary instead of manifests; its server must not be running.",
  },
  {
    name: "dry-run",
    type: "boolean",
    default: "",
    doc: "With --data-dir: report what would be done, and leave the folder unchanged.",
  },
  { name: "verbose", type: "boolean", default: "", doc: "Also report which objects are unchanged, and why." },
];

const about =
  "Converts manifests of older API versions to the current ones, or to a given one, on standard output. Standard error has a line\n" +
  "for each default written out, each field dropped and each decision needed. Exit code 1 if something can't be converted.\n\n" +
  "With --data-dir it gives the objects of a data folder the names of another vocabulary, or changes nothing and says why.";

export const convertCommand: Command = {
  flags: convertFlags,
  help: () =>
    helpText(
      "plinth convert -f FILE [--output-version=GROUP/VERSION] [FLAGS]\n" +
        "       plinth convert --data-dir=FOLDER --vocabulary=NAME [--dry-run]",
      about,
      convertFlags,
    ),
  run: (words) =>
    showingProgress(async (progress) => {
      const read = new FlagReader(convertFlags, parseFlags(convertFlags, words));
      if (read.optional("data-dir") !== undefined) return convertDataFolder(read, progress);
      return runConvert(words, {
        readInput,
        writeOutput: (text) => void process.stdout.write(text),
        writeError: (text) => void process.stderr.write(text),
        progress,
      });
    }),
};

/**
 * Runs the command.
 *
 * @returns the exit code
 * @throws {UsageError}
 */
export async function runConvert(words: readonly string[], streams: Streams): Promise<number> {
  const read = new FlagReader(convertFlags, parseFlags(convertFlags, words));
  const sources = read.list("filename");
  if (sources.length === 0) throw new UsageError("--filename (-f) is required");
  const form = read.choice("output", ["yaml", "json"]);
  const vocabularyName = read.optional("vocabulary") && read.choice("vocabulary", ["platform", "kubernetes"]);
  const requested = [platform, kubernetes].find(({ name }) => name === vocabularyName);
  const { home: target, vocabulary: implied } = outputVersion(read.optional("output-version"), requested);
  const recursive = read.boolean("recursive") ?? false;
  const verbose = read.boolean("verbose") ?? false;

  const results: JsonValue[] = [];
  let code = 0;
  const report = (text: string): void => streams.writeError(`${text}\n`);
  for await (const file of readManifests(sources, { recursive, readInput: streams.readInput })) {
    if (file.fault !== undefined) {
      report(`${file.name}: ${file.fault}`);
      code = 1;
    }
    const fileVocabulary = requested ?? vocabularyOf(file.documents.map(({ value }) => value)) ?? implied;
    for (const [index, { value, duplicates }] of file.documents.entries()) {
      streams.progress?.(`converting ${file.name}`, index / file.documents.length);
      const own = requested ?? vocabularyOf(value) ?? fileVocabulary;
      const result = convertManifest(value, target, contextOf(own ?? platform));
      const label = `${file.name}: document ${index + 1}${nameOf(value)}`;
      for (const path of duplicates) report(`${label}: ${path}: duplicate field; the last one is used`);
      for (const line of linesOf(result, verbose)) report(`${label}: ${line}`);
      if (own === undefined && vocabularyOf(result.object) !== undefined)
        report(`${label}: ${assumedVocabulary}`);
      if (result.notes.some(({ level }) => level === "unresolved")) code = 1;
      results.push(result.object);
    }
  }
  streams.writeOutput(form === "yaml" ? results.map(yamlText).join("---\n") : jsonText(results));
  return code;
}

const assumedVocabulary =
  "The manifest has no vocabulary-specific names; writing platform names. Use --vocabulary=kubernetes for the others.";

/**
 * Parses `--output-version`: the version, and the vocabulary of its name. Both are undefined if the flag isn't set.
 *
 * @throws {UsageError} if nothing can be converted to the version.
 */
function outputVersion(
  text: string | undefined,
  requested: Vocabulary | undefined,
): { readonly home?: GroupVersion; readonly vocabulary?: Vocabulary | undefined } {
  if (text === undefined) return {};
  const flag = `--output-version: ${JSON.stringify(text)}`;
  const possible = requested === undefined ? [platform, kubernetes] : [requested];
  const vocabulary = possible.find((one) => groupVersionOf(text, one) !== undefined);
  if (vocabulary === undefined) {
    const names = possible.map(({ name }) => name).join(" or the ");
    throw new UsageError(`${flag} is no version of a built-in group in the ${names} vocabulary`);
  }
  const home = groupVersionOf(text, vocabulary)!;
  const targets = targetsIn(home.group);
  // A group without a domain exists in every vocabulary, so its name doesn't show one.
  if (targets.includes(home.version)) return { home, vocabulary: vocabularyOf({ apiVersion: text }) };
  const names = targets.map((version) => apiVersionOf({ ...home, version }, vocabulary));
  const instead = names.length === 0 ? "nothing is converted to this group" : `there is ${names.join(", ")}`;
  throw new UsageError(`${flag} is no version to convert to; ${instead}`);
}

/** Returns the context of validation: the features are those of a server with default settings. */
function contextOf(vocabulary: Vocabulary): KindContext {
  return { vocabulary, enabled: gatesOfRelease(defaultRelease).enabled, subresource: "" };
}

/** Returns the label of an object: ` (Deployment web)`. */
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

/** The result of converting a manifest. */
interface ConvertedManifest {
  readonly object: JsonValue;
  readonly outcome: Converted["outcome"];
  readonly notes: readonly Note[];
}

/** Converts an object, or each object of a list (`List`, `DeploymentList` and the like). The input isn't modified. */
export function convertManifest(
  manifest: JsonValue,
  target: GroupVersion | undefined,
  context: KindContext,
): ConvertedManifest {
  if (!isObject(manifest)) {
    const text = "cannot be converted: must be an object";
    return { object: manifest, outcome: "failed", notes: [{ path: "", text, level: "unresolved" }] };
  }
  const { items, kind } = manifest;
  if (!Array.isArray(items) || typeof kind !== "string" || !kind.endsWith("List")) {
    return convertObject(manifest, target, context);
  }
  return convertList(manifest, items, kind, target, context);
}

function convertList(
  list: JsonObject,
  items: readonly JsonValue[],
  kind: string,
  target: GroupVersion | undefined,
  context: KindContext,
): ConvertedManifest {
  const implied =
    kind === "List" ? {} : { apiVersion: list["apiVersion"]!, kind: kind.slice(0, -"List".length) };
  const results = items.map((item) =>
    convertManifest(isObject(item) ? { ...implied, ...item } : item, target, context),
  );
  const notes = results.flatMap((result, index) => result.notes.map((one) => inItem(one, index)));
  const outcomes = results.map(({ outcome }) => outcome);
  const outcome = outcomes.find((one) => one === "failed") ?? outcomes.find((one) => one === "converted");
  if (outcome === undefined) return { object: list, outcome: "unchanged", notes };
  const versions = new Set(
    results.map(({ object }) => (isObject(object) ? object["apiVersion"] : undefined)),
  );
  const [version] = versions;
  const typed = kind !== "List" && versions.size === 1 && version !== undefined;
  // A list with several versions becomes a `List`.
  const head = kind === "List" ? {} : typed ? { apiVersion: version } : { apiVersion: "v1", kind: "List" };
  return { object: { ...list, ...head, items: results.map(({ object }) => object) }, outcome, notes };
}

function inItem(note: Note, index: number): Note {
  return { ...note, path: note.path === "" ? `items[${index}]` : `items[${index}].${note.path}` };
}
