import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { accessFlags, accessOf } from "../client/access-flags.ts";
import { ClientError } from "../client/client-error.ts";
import { ServerClient } from "../client/server-client.ts";
import { helpText, type Command } from "../command.ts";
import { readInput, type Streams } from "../terminal/streams.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { readManifests } from "../../base/manifests.ts";
import { DefinitionFault, isDefinition, readDefinition } from "./definition-source.ts";
import { moduleText, typesOf, type DefinitionTypes } from "./module-text.ts";

/** Every flag of `plinth types`. */
export const typesFlags: readonly Flag[] = [
  {
    name: "filename",
    short: "f",
    type: "list",
    default: "",
    doc: "Definitions: files, folders, or - for standard input; comma-separated; the flag may be repeated. By default they are read from a server.",
  },
  {
    name: "recursive",
    short: "R",
    type: "boolean",
    default: "",
    doc: "Also read subfolders.",
  },
  {
    name: "output",
    short: "o",
    type: "string",
    default: "",
    doc: "Folder to write to, one file per definition; the default is standard output.",
  },
  {
    name: "client",
    type: "boolean",
    default: "true",
    doc: "Also declare the types to the clients of the package plinth (CustomObjects); false for projects without it.",
  },
  ...accessFlags,
];

const about =
  "Writes TypeScript types of custom kinds from their CustomResourceDefinitions: one interface per version. Other\n" +
  "objects are ignored. Exit code 1 if a definition can't be read, or there is none; the others are written.";

/** Writes TypeScript types of custom kinds. */
export const typesCommand: Command = {
  flags: typesFlags,
  help: () => helpText("plinth types -f FILE | --kubeconfig=FILE | --server=URL [FLAGS]", about, typesFlags),
  run: (words) =>
    runTypes(words, process.env, {
      readInput,
      writeOutput: (text) => void process.stdout.write(text),
      writeError: (text) => void process.stderr.write(text),
    }),
};

/** A definition with the label of its source for messages. */
interface SourceObject {
  readonly label: string;
  readonly object: JsonObject;
}

/**
 * Runs the command.
 *
 * @returns the exit code
 * @throws {UsageError} @throws {ClientError}
 */
export async function runTypes(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  streams: Streams,
): Promise<number> {
  const read = new FlagReader(typesFlags, parseFlags(typesFlags, words));
  const faults: string[] = [];
  const definitions = await gather(read, environment, streams, faults);
  const all: DefinitionTypes[] = [];
  const labels = new Map<string, string>();
  for (const { label, object } of definitions) {
    try {
      const definition = readDefinition(object);
      const other = labels.get(definition.name);
      if (other !== undefined)
        throw new DefinitionFault("metadata.name", `${definition.name} is also in ${other}`);
      all.push(typesOf(definition));
      labels.set(definition.name, label);
    } catch (error) {
      if (!(error instanceof DefinitionFault)) throw error;
      faults.push(`${label}: ${error.message}`);
    }
  }
  if (definitions.length === 0 && faults.length === 0) faults.push("there is no CustomResourceDefinition");
  if (all.length > 0)
    await write(all, read.boolean("client") ?? true, { folder: read.optional("output"), streams });
  for (const fault of faults) streams.writeError(`${fault}\n`);
  return faults.length === 0 ? 0 : 1;
}

async function gather(
  read: FlagReader,
  environment: NodeJS.ProcessEnv,
  streams: Streams,
  faults: string[],
): Promise<readonly SourceObject[]> {
  const sources = read.list("filename");
  if (sources.length === 0) return fromServer(read, environment);
  for (const { name } of accessFlags) {
    if (read.optional(name) !== undefined)
      throw new UsageError(`--filename and --${name} exclude each other`);
  }
  const recursive = read.boolean("recursive") ?? false;
  const definitions: SourceObject[] = [];
  for await (const file of readManifests(sources, { recursive, readInput: streams.readInput })) {
    if (file.fault !== undefined) faults.push(`${file.name}: ${file.fault}`);
    for (const [index, { value }] of file.documents.entries()) {
      for (const object of itemsOf(value).filter(isDefinition)) {
        definitions.push({ label: `${file.name}: document ${index + 1}${nameOf(object)}`, object });
      }
    }
  }
  return definitions;
}

/** Returns the objects of a document: the items of a list, otherwise the document itself. */
function itemsOf(value: JsonValue): readonly JsonValue[] {
  if (!isObject(value)) return [];
  const { kind, items } = value;
  return typeof kind === "string" && kind.endsWith("List") && Array.isArray(items)
    ? items.map((one) => withKind(one, value))
    : [value];
}

/** Adds the kind that items of a typed list may omit. */
function withKind(item: JsonValue, list: JsonObject): JsonValue {
  if (!isObject(item) || list["kind"] !== "CustomResourceDefinitionList") return item;
  return { apiVersion: list["apiVersion"]!, ...item, kind: "CustomResourceDefinition" };
}

function nameOf({ metadata }: JsonObject): string {
  const name = isObject(metadata) ? metadata["name"] : undefined;
  return typeof name === "string" ? ` (CustomResourceDefinition ${name})` : "";
}

/** Page size of lists, because a definition can be large. */
const pageSize = 100;

async function fromServer(
  read: FlagReader,
  environment: NodeJS.ProcessEnv,
): Promise<readonly SourceObject[]> {
  const access = await accessOf(read, environment);
  const client = new ServerClient(access);
  try {
    const { groups } = (await client.get("/apis")) as { groups?: readonly { readonly name?: unknown }[] };
    const group = groups?.find(({ name }) => String(name).startsWith("apiextensions."))?.name;
    if (group === undefined) throw new ClientError(`${access.server} serves no CustomResourceDefinitions`);
    const definitions: SourceObject[] = [];
    for (let token: string | undefined = ""; token !== undefined;) {
      const query: string = token === "" ? "" : `&continue=${encodeURIComponent(token)}`;
      const list = (await client.get(
        `/apis/${String(group)}/v1/customresourcedefinitions?limit=${pageSize}${query}`,
      )) as JsonObject;
      for (const object of itemsOf(list).filter(isDefinition)) {
        definitions.push({ label: `${access.server}${nameOf(object)}`, object });
      }
      const next = isObject(list["metadata"]) ? list["metadata"]["continue"] : undefined;
      token = typeof next === "string" && next !== "" && next !== token ? next : undefined;
    }
    return definitions;
  } finally {
    client.close();
  }
}

async function write(
  all: readonly DefinitionTypes[],
  augments: boolean,
  { folder, streams }: { readonly folder: string | undefined; readonly streams: Streams },
): Promise<void> {
  if (folder === undefined) return streams.writeOutput(moduleText(all, augments));
  await mkdir(folder, { recursive: true });
  for (const one of all) {
    // The name is a DNS subdomain, and so a file name without separators.
    await writeFile(path.join(folder, `${one.definition.name}.ts`), moduleText([one], augments));
  }
}
