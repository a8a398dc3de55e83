import { accessFlags, accessOf } from "../client/access-flags.ts";
import { ResourceTable } from "../client/resource-table.ts";
import { ServerClient } from "../client/server-client.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { matrix } from "./matrix.ts";
import type { AuthContext } from "./question.ts";
import { visible } from "./visible.ts";
import { whoCan } from "./who-can.ts";
import { why } from "./why.ts";

/** Every flag of `plinth auth`. */
export const authFlags: readonly Flag[] = [
  {
    name: "namespace",
    short: "n",
    type: "string",
    default: "",
    doc: "Namespace of the action; the default is that of the kubeconfig, otherwise default.",
  },
  {
    name: "all-namespaces",
    short: "A",
    type: "boolean",
    default: "",
    doc: "Ask about all namespaces.",
  },
  {
    name: "group",
    type: "list",
    default: "",
    doc: "why, matrix, visible: groups of the user, comma-separated; the flag may be repeated.",
  },
  {
    name: "exact",
    type: "boolean",
    default: "",
    doc: "why, matrix: don't add the groups of all authenticated users and of service accounts.",
  },
  {
    name: "limit",
    type: "integer",
    default: "500",
    doc: "who-can: maximum number of subjects. visible: maximum number of names.",
  },
  { name: "output", short: "o", type: "string", default: "text", doc: "Output format: text or json." },
  ...accessFlags,
];

const about = `Explains who may do what on a server, and why.
The exit code is 0 if the server answered, whether the action is allowed or not.

  plinth auth why USER VERB RESOURCE[/SUBRESOURCE] [NAME]   allowed by which rule; if not, the nearest rules
  plinth auth who-can VERB RESOURCE[/SUBRESOURCE] [NAME]    the allowed subjects, each with a binding
  plinth auth matrix USER [RESOURCE...]                     a user's verbs by resource
  plinth auth visible USER [RESOURCE]                       how many objects a user may see, or their names

RESOURCE is a name, short name or NAME.GROUP, or a URL path such as /metrics. A service account is called
system:serviceaccount:NAMESPACE:NAME.`;

const questions = { why, "who-can": whoCan, matrix, visible };

export const authCommand: Command = {
  flags: authFlags,
  help: () => helpText("plinth auth why|who-can|matrix|visible ... [FLAGS]", about, authFlags),
  run: (words) => runAuth(words, process.env, (text) => void process.stdout.write(text)),
};

/**
 * Runs a subcommand (`why`, `who-can`, `matrix` or `visible`) and writes its output.
 *
 * @returns the exit code
 * @throws {UsageError} @throws {ClientError}
 */
export async function runAuth(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  write: (text: string) => void,
): Promise<number> {
  const [name = "", ...rest] = words;
  if (!Object.hasOwn(questions, name)) {
    const description = name === "" ? "no question" : `the question ${JSON.stringify(name)}`;
    throw new UsageError(
      `${description}; there are ${Object.keys(questions).join(", ")}: see plinth auth --help`,
    );
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
