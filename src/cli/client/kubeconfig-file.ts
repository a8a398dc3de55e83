import { readFileSync } from "node:fs";
import path from "node:path";
import { parse, YAMLParseError } from "yaml";
import { isObject, type JsonValue } from "../../base/json/value.ts";
import { ClientError } from "./client-error.ts";

/** How a server is reached, and as whom. */
export interface Access {
  readonly server: string;
  /** PEM of the authorities that are trusted; undefined: those of the system. */
  readonly ca?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly token?: string | undefined;
  /** PEM, both or neither. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** Where names are looked for unless a namespace is given. */
  readonly namespace?: string | undefined;
}

type Section = Readonly<Record<string, JsonValue | undefined>>;

/**
 * Reads a client configuration in the field's form.
 *
 * @param context undefined: the current one of the file.
 * @throws {ClientError}
 */
export function readKubeconfig(file: string, context: string | undefined): Access {
  const config = documentOf(file);
  const name = context ?? textOf(config, "current-context");
  if (name === undefined)
    throw new ClientError(`${file}: there is no current-context; choose one with --context`);
  const chosen = namedIn(config, "contexts", "context", name, file);
  const cluster = namedIn(config, "clusters", "cluster", textOf(chosen, "cluster") ?? "", file);
  const userName = textOf(chosen, "user");
  const user = userName === undefined ? {} : namedIn(config, "users", "user", userName, file);
  const server = textOf(cluster, "server");
  if (server === undefined)
    throw new ClientError(`${file}: the cluster of the context ${JSON.stringify(name)} has no server`);
  for (const other of ["exec", "auth-provider", "username"]) {
    if (user[other] !== undefined) {
      throw new ClientError(
        `${file}: the user ${JSON.stringify(userName)} authenticates by ${other}, which isn't supported: use a token or a certificate`,
      );
    }
  }
  const folder = path.dirname(file);
  const tokenFile = textOf(user, "tokenFile");
  return {
    server,
    ca: pemOf(cluster, "certificate-authority", folder),
    insecure: cluster["insecure-skip-tls-verify"] === true,
    token:
      textOf(user, "token") ??
      (tokenFile === undefined ? undefined : readText(path.resolve(folder, tokenFile)).trim()),
    certificate: pemOf(user, "client-certificate", folder),
    key: pemOf(user, "client-key", folder),
    namespace: textOf(chosen, "namespace"),
  };
}

/**
 * A file's text.
 *
 * @throws {ClientError}
 */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ClientError(`${file}: ${(error as Error).message}`);
  }
}

function documentOf(file: string): Section {
  let value: unknown;
  try {
    value = parse(readText(file));
  } catch (error) {
    if (error instanceof YAMLParseError) throw new ClientError(`${file}: ${error.message}`);
    throw error;
  }
  if (!isObject(value as JsonValue)) throw new ClientError(`${file}: is no client configuration`);
  return value as Section;
}

/** The part of the entry with a name in one of the file's lists. */
function namedIn(config: Section, list: string, part: string, name: string, file: string): Section {
  const entries = config[list];
  const found = Array.isArray(entries)
    ? entries.find(
        (entry): entry is { [key: string]: JsonValue } => isObject(entry) && entry["name"] === name,
      )
    : undefined;
  if (found === undefined)
    throw new ClientError(`${file}: there is no ${part} ${JSON.stringify(name)} in ${list}`);
  const inner = found[part];
  return inner !== undefined && isObject(inner) ? inner : {};
}

/** PEM that stands in a section, or in the file that it names. */
function pemOf(section: Section, name: string, folder: string): string | undefined {
  const data = textOf(section, `${name}-data`);
  if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
  const file = textOf(section, name);
  return file === undefined ? undefined : readText(path.resolve(folder, file));
}

function textOf(section: Section, name: string): string | undefined {
  const value = section[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
