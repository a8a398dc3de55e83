import { accessFlags, accessOf } from "../client/access-flags.ts";
import { ResourceTable } from "../client/resource-table.ts";
import { ServerClient } from "../client/server-client.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flag-reader.ts";
import { matrix } from "./matrix.ts";
import type { AuthContext } from "./question.ts";
import { whoCan } from "./who-can.ts";
import { why } from "./why.ts";

/** Every flag of `plinth auth`. */
export const authFlags: readonly Flag[] = [
  {
    name: "namespace",
    short: "n",
    type: "string",
    default: "",
    doc: "Namespace of the action; by default that of the client configuration, or default.",
  },
  {
    name: "all-namespaces",
    short: "A",
    type: "boolean",
    default: "",
    doc: "Ask about every namespace at once.",
  },
  {
    name: "group",
    type: "list",
    default: "",
    doc: "why, matrix: groups of the user, comma separated, or given several times.",
  },
  {
    name: "exact",
    type: "boolean",
    default: "",
    doc: "why, matrix: don't add the groups that every authenticated user, or service account, is in.",
  },
  { name: "limit", type: "integer", default: "500", doc: "who-can: subjects to list at most." },
  { name: "output", short: "o", type: "string", default: "text", doc: "Form of the answer: text or json." },
  ...accessFlags,
];

const about = `Explains who may do what on a server, and why. Exit code 0: the question was answered, whatever the answer.

  plinth auth why USER VERB RESOURCE[/SUBRESOURCE] [NAME]   may this user, and by which rule; or what is lacking
  plinth auth who-can VERB RESOURCE[/SUBRESOURCE] [NAME]    who may, each by which binding
  plinth auth matrix USER [RESOURCE...]                     a user's verbs by resource

RESOURCE is a name, short name or NAME.GROUP, or a URL path such as /metrics. A service account is called
system:serviceaccount:NAMESPACE:NAME.`;

const questions = { why, "who-can": whoCan, matrix };

/** Explains authorization of a server. */
export const authCommand: Command = {
  flags: authFlags,
  help: () => helpText("plinth auth why|who-can|matrix ... [FLAGS]", about, authFlags),
  run: (words) => runAuth(words, process.env, (text) => void process.stdout.write(text)),
};

/**
 * Asks what the words say, and writes the answer; gives the exit code.
 *
 * @throws {UsageError} @throws {ClientError}
 */
export async function runAuth(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  write: (text: string) => void,
): Promise<number> {
  const [name = "", ...rest] = words;
  if (!Object.hasOwn(questions, name)) {
    const given = name === "" ? "no question" : `the question ${JSON.stringify(name)}`;
    throw new UsageError(`${given}; there are ${Object.keys(questions).join(", ")}: see plinth auth --help`);
  }
  const others: string[] = [];
  const read = new FlagReader(authFlags, parseFlags(authFlags, rest, others));
  const json = read.choice("output", ["text", "json"]) === "json";
  const limit = read.integer("limit", 1, 100_000);
  if (read.optional("namespace") !== undefined && read.boolean("all-namespaces") === true) {
    throw new UsageError("--namespace and --all-namespaces exclude each other");
  }
  const access = await accessOf(read, environment);
  const client = new ServerClient(access);
  try {
    const table = await ResourceTable.read(client);
    const namespace = read.optional("namespace") ?? (access.namespace || "default");
    const context: AuthContext = {
      client,
      table,
      namespace: read.boolean("all-namespaces") === true ? "" : namespace,
      groups: read.list("group"),
      exact: read.boolean("exact") ?? false,
      limit,
    };
    const answer = await questions[name as keyof typeof questions](others, context);
    write(json ? `${JSON.stringify(answer.object, null, 2)}\n` : answer.text);
    return 0;
  } finally {
    client.close();
  }
}
