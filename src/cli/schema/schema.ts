import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { decodeJson } from "../../base/json/decode.ts";
import type { JsonObject } from "../../base/json/value.ts";
import { apiVersionOf } from "../../base/object-errors.ts";
import { defaultRelease } from "../../base/releases.ts";
import { jsonSchemas, type JsonSchemas, type KindSchema } from "../../server/validation/json-schemas.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags } from "../flags/flag-reader.ts";
import { readInput, type Streams } from "../terminal/streams.ts";
import { contextReader } from "../validate/context-reader.ts";
import { inputFlags, releaseOf, vocabularyOf } from "../validate/validate-flags.ts";

const about = `Writes JSON schemas (draft 7) of all kinds of a release, and of custom kinds from their definitions: one file for editors, which
chooses the schema by apiVersion and kind.`;

const sharedFlags = new Set(["with", "kubeconfig", "context", "server", "token", "ca", "vocabulary"]);

/** Every flag of `plinth schema`. */
export const schemaFlags: readonly Flag[] = [
  {
    name: "output",
    short: "o",
    type: "string",
    default: "",
    doc: "Folder to write to: all.json, and a file for each kind such as deployment-apps-v1.json; the default is all.json on standard output.",
  },
  { name: "release", type: "string", default: defaultRelease, doc: "API release of the kinds." },
  ...inputFlags
    .filter(({ name }) => sharedFlags.has(name))
    .map((flag) =>
      flag.name === "with" ? { ...flag, doc: "Files and folders with definitions of custom kinds." } : flag,
    ),
];

/** Writes JSON schemas. */
export const schemaCommand: Command = {
  flags: schemaFlags,
  help: () => helpText("plinth schema [FLAGS]", about, schemaFlags),
  run: (words) =>
    runSchema(words, process.env, {
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
export async function runSchema(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  streams: Streams,
): Promise<number> {
  const read = new FlagReader(schemaFlags, parseFlags(schemaFlags, words));
  const release = releaseOf("release", read.text("release"));
  const vocabulary = vocabularyOf(read);
  const context = await contextReader(read, environment, streams);
  const options = { vocabulary, namespace: "default", podSecurity: undefined, user: undefined, groups: [] };
  const schemas = await jsonSchemas(release, options, await context());
  const folder = read.optional("output");
  const all = `${JSON.stringify(editorSchema(schemas))}\n`;
  if (folder === undefined) {
    streams.writeOutput(all);
    return 0;
  }
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "all.json"), all);
  for (const kind of schemas.kinds)
    await writeFile(
      path.join(folder, fileOf(kind)),
      `${JSON.stringify(kindSchema(kind, schemas.definitions))}\n`,
    );
  return 0;
}

const draft = "http://json-schema.org/draft-07/schema#";

/** Returns a schema that chooses the schema of a kind by `apiVersion` and `kind`. */
function editorSchema({ kinds, definitions }: JsonSchemas): JsonObject {
  return {
    $schema: draft,
    type: "object",
    required: ["apiVersion", "kind"],
    allOf: kinds.map(schemaForKind),
    definitions,
  };
}

/** Returns the rule for the objects of a kind; as text, because objects with a member of its name are taken for promises. */
function schemaForKind({ group, version, kind, definition }: KindSchema): JsonObject {
  const properties = { apiVersion: { const: apiVersionOf(group, version) }, kind: { const: kind } };
  const condition = JSON.stringify({ required: ["apiVersion", "kind"], properties });
  const rule = `{"if": ${condition}, "then": {"$ref": ${JSON.stringify(`#/definitions/${definition}`)}}}`;
  return decodeJson(Buffer.from(rule)).value as JsonObject;
}

/** Returns the schema of a kind with the definitions that it needs: a validator reads it for each object. */
function kindSchema({ definition }: KindSchema, all: JsonObject): JsonObject {
  const definitions: JsonObject = {};
  const names = [definition];
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const schema = all[name];
    if (schema === undefined || Object.hasOwn(definitions, name)) continue;
    definitions[name] = schema;
    for (const [, reference] of JSON.stringify(schema).matchAll(/"\$ref": ?"#\/definitions\/([^"]+)"/g))
      names.push(reference!);
  }
  return { $schema: draft, $ref: `#/definitions/${definition}`, definitions };
}

/** The name of the file of a kind: `deployment-apps-v1.json`, `pod-v1.json`. */
function fileOf({ group, version, kind }: KindSchema): string {
  const parts = [kind.toLowerCase(), group.split(".")[0]!, version].filter((part) => part !== "");
  return `${parts.join("-")}.json`;
}
