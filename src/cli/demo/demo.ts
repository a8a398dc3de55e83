import { apiGroup, isInDomain } from "../../vocabulary/names.ts";
import { gitVersionOf, releases } from "../../base/releases.ts";
import { readdirSync } from "node:fs";
import path from "node:path";
import { packageFolder } from "../../base/files/folders.ts";
import { isObject, type JsonObject } from "../../base/json/value.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { parseExactJson } from "../../base/json/embedded.ts";
import { platform } from "../../vocabulary/platform.ts";
import { vocabularies } from "../../vocabulary/vocabularies.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { accessFlags, accessOf } from "../client/access-flags.ts";
import { ClientError } from "../client/client-error.ts";
import { ResourceTable } from "../client/resource-table.ts";
import { ServerClient } from "../client/server-client.ts";
import { helpText, type Command } from "../command.ts";
import { FlagReader, parseFlags } from "../flags/flag-reader.ts";
import { invokedAs } from "../invocation.ts";
import { readManifests } from "../../base/manifests.ts";
import { shellWord } from "../terminal/shell.ts";
import { columns } from "../terminal/terminal.ts";

const about = `Loads an example organisation: six teams with two namespaces each, about a hundred roles and bindings, and a few
mistakes. Loading it again restores what was changed. It refuses servers that are not Plinth.`;

/** Commands to try afterwards, without the name of the program, and what they answer. */
const suggestions = [
  ["auth why devi update configmaps -n shop-dev --group=shop-developers", "allowed, and by which rule"],
  ["auth why devi update configmaps -n shop-prod --group=shop-developers", "denied, and what is missing"],
  ["auth who-can delete secrets -n payments-prod", "who may delete secrets"],
  ["auth matrix ravi -n payments-prod", "what ravi may do"],
] as const;
/** As {@link suggestions}, for a server with a console. */
const consoleSuggestion = ["console", "the same in a browser, as administrator"] as const;

/** Time limit of the request that asks for the console. */
const requestMs = 5000;

const fieldManager = "plinth-demo";

/** Loads the example organisation of the package into a running server. */
export const demoCommand: Command = {
  flags: accessFlags,
  help: () => helpText("plinth demo [FLAGS]", about, accessFlags),
  async run(words) {
    const read = new FlagReader(accessFlags, parseFlags(accessFlags, words));
    const access = await accessOf(read, process.env);
    const client = new ServerClient(access);
    try {
      const vocabulary = await vocabularyOf(client);
      const table = await ResourceTable.read(client);
      let created = 0;
      const objects = await exampleObjects(vocabulary);
      for (const object of objects) {
        const target = `${pathOf(object, table)}?fieldManager=${fieldManager}&force=true`;
        if (await client.apply(target, object)) created++;
      }
      const kubeconfig = read.optional("kubeconfig");
      const suffix = kubeconfig === undefined ? "" : ` --kubeconfig=${shellWord(kubeconfig)}`;
      const hasConsole = (await client.text("/console/sign-in", requestMs)).status === 200;
      const commands = [...suggestions, ...(hasConsole ? [consoleSuggestion] : [])].map(
        ([words, effect]) => [`${invokedAs()} ${words}${suffix}`, effect] as const,
      );
      process.stdout.write(
        `the example organisation is on ${access.server}: ${created} objects created, ${objects.length - created} existed\n` +
          `try:\n${columns(commands)}`,
      );
      return 0;
    } finally {
      client.close();
    }
  },
};

/**
 * Returns the vocabulary of a server.
 *
 * @throws {ClientError} if the server is not Plinth: the examples must not be written into another cluster.
 */
async function vocabularyOf(client: ServerClient): Promise<Vocabulary> {
  const { gitVersion } = await client.get("/version");
  if (!releases.some((release) => gitVersionOf(release) === gitVersion)) {
    throw new ClientError(
      `the server has version ${String(gitVersion)} and is not Plinth; nothing was written`,
    );
  }
  const { groups } = (await client.get("/apis")) as unknown as {
    readonly groups: readonly { name: string }[];
  };
  const match = vocabularies.find(({ groupSuffix }) =>
    groups.some(({ name }) => isInDomain(groupSuffix, name)),
  );
  if (match === undefined) throw new ClientError("the server has no groups of either vocabulary");
  return match;
}

/** Reads the objects of the package's example in the order of the numbers of their files, in the names of a vocabulary. */
async function exampleObjects(vocabulary: Vocabulary): Promise<JsonObject[]> {
  const folder = path.join(packageFolder(), "examples/organisation");
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .toSorted((one, other) => parseInt(one, 10) - parseInt(other, 10))
    .map((name) => path.join(folder, name));
  const readInput = () => Promise.resolve(new Uint8Array());
  const objects: JsonObject[] = [];
  for await (const { name, documents, fault } of readManifests(files, { recursive: false, readInput })) {
    if (fault !== undefined) throw new Error(`${name}: ${fault}`);
    for (const { value } of documents) if (isObject(value)) objects.push(inVocabulary(value, vocabulary));
  }
  return objects;
}

/** Replaces the suffix of API groups. The examples contain no other names that depend on the vocabulary. */
function inVocabulary(object: JsonObject, { groupSuffix }: Vocabulary): JsonObject {
  const text = encodeJson(object).replaceAll(apiGroup(platform.groupSuffix, ""), apiGroup(groupSuffix, ""));
  return parseExactJson(text) as JsonObject;
}

/** The path of an object. @throws {ClientError} if the server doesn't serve its kind. */
function pathOf(object: JsonObject, table: ResourceTable): string {
  const apiVersion = String(object["apiVersion"]);
  const { name, namespace } = object["metadata"] as { readonly name: string; readonly namespace?: string };
  const resource = table.ofKind(apiVersion, String(object["kind"]));
  if (resource === undefined)
    throw new ClientError(`the server has no ${String(object["kind"])} of ${apiVersion}`);
  const base = resource.group === "" ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  const scope = namespace === undefined ? "" : `/namespaces/${namespace}`;
  return `${base}${scope}/${resource.name}/${encodeURIComponent(name)}`;
}
