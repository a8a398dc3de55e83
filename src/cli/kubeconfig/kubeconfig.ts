import { readFile, open, realpath, rm } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { CertificateFault, issueClientCertificate } from "../../base/certificates/serving-certificates.ts";
import {
  kubeconfigEntries,
  kubeconfigText,
  type KubeconfigEntries,
} from "../../server/listening/kubeconfig.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { decodeYaml } from "../../base/yaml/yaml.ts";
import { administratorFile } from "../serve/administrator-file.ts";
import { ClientError } from "../client/client-error.ts";
import { helpText, type Command } from "../command.ts";
import { defaultDataDir, identityFolder } from "../serve/data-folder.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import type { Document } from "yaml";
import { makeFolder } from "../../base/files/folders.ts";
import { writePrivateFile } from "../../base/files/private-file.ts";

/** Every flag of `plinth kubeconfig`. */
export const kubeconfigFlags: readonly Flag[] = [
  { name: "data-dir", type: "string", default: defaultDataDir, doc: "Data folder of the server." },
  {
    name: "merge",
    type: "boolean",
    default: "",
    doc: "Add a context to the user's kubeconfig instead of printing one.",
  },
  {
    name: "into",
    type: "file",
    default: "",
    doc: "With --merge: file to change; the default is the first of KUBECONFIG, otherwise ~/.kube/config.",
  },
  {
    name: "context",
    type: "string",
    default: "",
    doc: "Name of context, cluster and user; the default is plinth, or plinth-USER with --user.",
  },
  {
    name: "keep-current",
    type: "boolean",
    default: "",
    doc: "With --merge: don't change the current context.",
  },
  {
    name: "server",
    type: "string",
    default: "",
    doc: "URL of the server, if clients use another one than this machine.",
  },
  {
    name: "user",
    type: "string",
    default: "",
    doc: "Name of a user, who gets a client certificate; the default is the administrator.",
  },
  { name: "group", type: "list", default: "", doc: "With --user: groups of the user, comma-separated." },
  { name: "days", type: "integer", default: "365", doc: "With --user: days that the certificate is valid." },
];

const about = `Prints a kubeconfig for the server of a data folder, or adds a context to the user's kubeconfig.
With --user it has a new client certificate for that user, signed by the CA in the data folder. The credentials are valid
until they expire; a certificate can't be revoked.`;

/** Prints a kubeconfig, or merges it into the user's. */
export const kubeconfigCommand: Command = {
  flags: kubeconfigFlags,
  help: () => helpText("plinth kubeconfig [--merge] [FLAGS]", about, kubeconfigFlags),
  async run(words) {
    const read = new FlagReader(kubeconfigFlags, parseFlags(kubeconfigFlags, words));
    checkCombination(read);
    const dataDir = read.text("data-dir");
    const user = read.optional("user");
    const entries = withServer(await administratorEntries(dataDir), read.optional("server"));
    const own = user === undefined ? entries : { ...entries, user: await userEntry(read, dataDir, user) };
    const name = read.optional("context") ?? (user === undefined ? "plinth" : `plinth-${user}`);
    if (read.boolean("merge") !== true) {
      process.stdout.write(kubeconfigText(own, { context: name, userName: name }));
      return 0;
    }
    const file = read.optional("into") ?? defaultTarget(process.env);
    const isCurrent = read.boolean("keep-current") !== true;
    const { isReplaced, previousContext } = await mergeKubeconfig(file, name, own, isCurrent);
    process.stdout.write(
      `${file}: ${isReplaced ? "replaced" : "added"} the context ${name}\n` +
        contextNote(name, previousContext, isCurrent),
    );
    return 0;
  },
};

function checkCombination(read: FlagReader): void {
  const only = (names: readonly string[], other: string) => {
    for (const name of names) {
      if (read.flagNames.includes(name) && !read.flagNames.includes(other))
        throw new UsageError(`--${name} needs --${other}`);
    }
  };
  only(["into", "keep-current"], "merge");
  only(["group", "days"], "user");
}

/** Returns the entries of the kubeconfig that a server wrote into the folder. */
async function administratorEntries(dataDir: string): Promise<KubeconfigEntries> {
  const file = administratorFile(dataDir);
  const bytes = await readOf(file, "start a server with this data folder first");
  interface Written {
    readonly clusters?: readonly { readonly cluster?: KubeconfigEntries["cluster"] }[];
    readonly users?: readonly { readonly user?: KubeconfigEntries["user"] }[];
  }
  const { clusters, users } = ((await contentOf(file, bytes)) ?? {}) as Written;
  const [cluster, user] = [clusters?.[0]?.cluster, users?.[0]?.user];
  if (cluster === undefined || user === undefined)
    throw new ClientError(`${file}: has no cluster and user; delete it and start the server again`);
  return { cluster, user };
}

async function contentOf(file: string, bytes: Buffer): Promise<JsonValue> {
  try {
    return (await decodeYaml(bytes)).value;
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    throw new ClientError(`${file}: not YAML: ${error.message}`);
  }
}

/** Replaces the URL of the server, if one is set. */
function withServer({ cluster, user }: KubeconfigEntries, server: string | undefined): KubeconfigEntries {
  if (server === undefined) return { cluster, user };
  if (!URL.canParse(server) || new URL(server).protocol !== "https:")
    throw new UsageError(`--server: ${JSON.stringify(server)} is not an https URL`);
  return { cluster: { ...cluster, server }, user };
}

/** Issues a client certificate for a user, and returns the entry of the kubeconfig. */
async function userEntry(
  read: FlagReader,
  dataDir: string,
  name: string,
): Promise<KubeconfigEntries["user"]> {
  const folder = identityFolder(dataDir);
  const hint = "the folder has no CA of the server, which signs certificates of users";
  const [certificate, key] = await Promise.all(
    ["ca.crt", "ca.key"].map(async (file) => (await readOf(path.join(folder, file), hint)).toString()),
  );
  const facts = {
    commonName: name,
    organizations: read.list("group"),
    days: read.integer("days", 1, 3650),
  };
  try {
    const issued = issueClientCertificate({ certificate: certificate!, key: key! }, facts);
    return kubeconfigEntries("", undefined, issued).user;
  } catch (error) {
    if (error instanceof CertificateFault) throw new ClientError(`${folder}: ${error.message}`);
    throw error;
  }
}

async function readOf(file: string, hint: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ClientError(code === "ENOENT" ? `${file} doesn't exist: ${hint}` : `${file}: ${message}`);
  }
}

/** Returns the file that kubectl changes too: the first of `KUBECONFIG`, otherwise that of the user. */
function defaultTarget({ KUBECONFIG: named = "" }: NodeJS.ProcessEnv): string {
  const first = named.split(path.delimiter).find((file) => file !== "");
  return first ?? path.join(homedir(), ".kube/config");
}

function contextNote(name: string, previous: string, isCurrent: boolean): string {
  if (!isCurrent && previous !== "")
    return `current context: ${previous}; change it with: kubectl config use-context ${name}\n`;
  return previous === "" || previous === name
    ? `current context: ${name}\n`
    : `current context: ${name}; back with: kubectl config use-context ${previous}\n`;
}

/** Result of {@link mergeKubeconfig}. */
interface MergeResult {
  /** Whether entries of this name existed. */
  readonly isReplaced: boolean;
  /** The current context before; empty if there was none. */
  readonly previousContext: string;
}

/**
 * Adds a cluster, user and context to a kubeconfig file, or replaces those of the name; other entries and comments stay. The file is
 * created if it doesn't exist, and replaced atomically while `FILE.lock` exists, as kubectl does.
 *
 * @param name name of cluster, user and context.
 * @param isCurrent whether the context becomes the current one.
 * @throws {ClientError} if the file can't be read, is no kubeconfig, or is locked.
 */
async function mergeKubeconfig(
  file: string,
  name: string,
  { cluster, user }: KubeconfigEntries,
  isCurrent: boolean,
): Promise<MergeResult> {
  const target = await resolvedPath(file);
  makeFolder(path.dirname(target));
  return whileLocked(target, async () => {
    const document = await readDocument(target);
    const previous = document.get("current-context");
    const replaced = [
      setNamed(document, target, "clusters", name, { cluster }),
      setNamed(document, target, "users", name, { user }),
      setNamed(document, target, "contexts", name, { context: { cluster: name, user: name } }),
    ];
    const previousContext = typeof previous === "string" ? previous : "";
    if (isCurrent || previousContext === "") document.set("current-context", name);
    writePrivateFile(target, document.toString());
    return { isReplaced: replaced.includes(true), previousContext };
  });
}

/** Returns the file behind symbolic links, so that a link stays one. */
async function resolvedPath(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return path.resolve(file);
    throw error;
  }
}

async function whileLocked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  try {
    await (await open(lock, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new ClientError(`${file}: another program is changing it; delete ${lock} if none is running`);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

const emptyFile = "apiVersion: v1\nkind: Config\nclusters: []\nusers: []\ncontexts: []\n";

async function readDocument(file: string): Promise<Document> {
  const { isMap, parseDocument } = await import("../../base/yaml/yaml-library.ts");
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    text = emptyFile;
  }
  const document = parseDocument(text.trim() === "" ? emptyFile : text);
  const [fault] = document.errors;
  if (fault !== undefined) throw new ClientError(`${file}: not YAML: ${fault.message}`);
  if (!isMap(document.contents)) throw new ClientError(`${file}: not a kubeconfig: it is not a map`);
  return document;
}

/** Sets the entry of a name in a list of the file. @returns whether it existed. */
function setNamed(
  document: Document,
  file: string,
  list: string,
  name: string,
  value: Readonly<Record<string, unknown>>,
): boolean {
  const entries: unknown = document.toJS()[list] ?? [];
  if (!Array.isArray(entries)) throw new ClientError(`${file}: not a kubeconfig: ${list} is not a list`);
  const index = entries.findIndex((one: { readonly name?: unknown } | null) => one?.name === name);
  const entry = document.createNode({ name, ...value });
  // A list that is absent, null or empty in the flow style of `[]` becomes a block list.
  if (entries.length === 0) document.set(list, document.createNode([{ name, ...value }]));
  else if (index === -1) document.addIn([list], entry);
  else document.setIn([list, index], entry);
  return index !== -1;
}
