import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { SyntaxFault } from "../base/json/syntax-fault.ts";
import { whyUnreadable } from "../base/files/unreadable.ts";
import { certificatesIn } from "../base/certificates/pem.ts";
import { cleanPath } from "../base/network/url-path.ts";
import { decodeYaml } from "../base/yaml/yaml.ts";
import type { RemoteTls } from "./remote-client.ts";

/** An invalid client configuration; the message names the field and the reason. */
export class ConfigurationFault extends Error {
  override name = "ConfigurationFault";
}

/** Address of an external service and the credentials of the server for it. */
export interface ClientConfiguration {
  readonly server: URL;
  readonly tls: RemoteTls;
  readonly credentials: RemoteCredentials;
  /** Default namespace of the context; empty if there is none. */
  readonly namespace: string;
  /** Paths of the files: the configuration itself, CA certificates, certificate and key. */
  readonly files: readonly string[];
}

/** The value of the header `Authorization`. */
export type RemoteCredentials =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  /** The file is read again periodically. */
  | { readonly kind: "token-file"; readonly file: string }
  | { readonly kind: "basic"; readonly user: string; readonly password: string };

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a client configuration file (spec: conventions 5.7): `clusters`, `users`, `contexts` and `current-context`, which
 * selects the context. Paths in it are relative to its folder.
 *
 * @param chosen name of the context to use instead of the current one.
 * @throws {ConfigurationFault} if it is invalid.
 */
export async function readClientConfiguration(file: string, chosen?: string): Promise<ClientConfiguration> {
  const bytes = await readNamed(file, "");
  const document = fields(await parse(bytes), "the file");
  const reader = new Reader(path.dirname(file), document);
  const context = chosen === undefined ? reader.current() : reader.named("contexts", "context", chosen);
  const cluster = reader.named("clusters", "cluster", text(context, "cluster", "context.cluster"));
  const userName = text(context, "user", "context.user");
  const user = userName === "" ? {} : reader.named("users", "user", userName);
  return {
    server: serverOf(cluster),
    tls: await reader.tls(cluster, user),
    credentials: await reader.credentials(user),
    namespace: text(context, "namespace", "context.namespace"),
    files: [file, ...reader.files],
  };
}

/** Credentials of the server for one service. */
export interface RemoteUser {
  readonly tls: Pick<RemoteTls, "cert" | "key">;
  readonly credentials: RemoteCredentials;
}

/**
 * Reads all users of a client configuration file by name, and the user of the current context, if there is one.
 *
 * @throws {ConfigurationFault}
 */
export async function readUsers(file: string): Promise<{
  readonly users: ReadonlyMap<string, RemoteUser>;
  readonly current: RemoteUser | undefined;
}> {
  const document = fields(await parse(await readNamed(file, "")), "the file");
  const reader = new Reader(path.dirname(file), document);
  const users = new Map<string, RemoteUser>();
  for (const name of reader.names("users")) {
    const user = reader.named("users", "user", name);
    const { cert, key } = await reader.tls({}, user);
    users.set(name, { tls: { cert, key }, credentials: await reader.credentials(user) });
  }
  const context = text(document, "current-context", "current-context") === "" ? {} : reader.current();
  return { users, current: users.get(text(context, "user", "context.user")) };
}

async function parse(bytes: Buffer): Promise<unknown> {
  try {
    return (await decodeYaml(bytes)).value;
  } catch (error) {
    if (error instanceof SyntaxFault)
      throw new ConfigurationFault(`is neither YAML nor JSON: ${error.message}`);
    throw error;
  }
}

function serverOf(cluster: Fields): URL {
  const server = text(cluster, "server", "cluster.server");
  if (!URL.canParse(server)) {
    throw new ConfigurationFault(`cluster.server: ${JSON.stringify(server)} is not a URL`);
  }
  const url = new URL(server);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new ConfigurationFault(`cluster.server: ${JSON.stringify(server)} is neither https nor http`);
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    throw new ConfigurationFault("cluster.server: must have neither a user nor a fragment");
  }
  if (text(cluster, "proxy-url", "cluster.proxy-url") !== "") {
    throw new ConfigurationFault("cluster.proxy-url: proxies are not supported");
  }
  return cleanPath(url);
}

/** Reads one document. */
class Reader {
  /** Paths of the files that were read besides the document. */
  readonly files: string[] = [];

  constructor(
    private readonly folder: string,
    private readonly document: Fields,
  ) {}

  current(): Fields {
    const name = text(this.document, "current-context", "current-context");
    if (name === "") throw new ConfigurationFault("current-context: is missing");
    return this.named("contexts", "context", name);
  }

  /** Returns the names of the entries of a list. */
  names(list: string): string[] {
    const entries = own(this.document, list) ?? [];
    if (!Array.isArray(entries)) throw new ConfigurationFault(`${list}: is not a list`);
    return entries.map((one, index) =>
      text(fields(one, `${list}[${index}]`), "name", `${list}[${index}].name`),
    );
  }

  /** Returns the entry of a list by name. */
  named(list: string, member: string, name: string): Fields {
    if (name === "") throw new ConfigurationFault(`context.${member}: is missing`);
    const entries = own(this.document, list);
    if (!Array.isArray(entries)) throw new ConfigurationFault(`${list}: is not a list`);
    const entry = entries.find((one) => isFields(one) && own(one, "name") === name) as Fields | undefined;
    if (entry === undefined)
      throw new ConfigurationFault(`${list}: has no entry named ${JSON.stringify(name)}`);
    return fields(own(entry, member) ?? {}, `${list}[${JSON.stringify(name)}].${member}`);
  }

  async tls(cluster: Fields, user: Fields): Promise<RemoteTls> {
    const skip = own(cluster, "insecure-skip-tls-verify") ?? false;
    if (typeof skip !== "boolean") {
      throw new ConfigurationFault("cluster.insecure-skip-tls-verify: is neither true nor false");
    }
    const ca = await this.content(cluster, "cluster", "certificate-authority");
    if (skip && ca !== undefined) {
      throw new ConfigurationFault(
        "cluster.certificate-authority: can't be given together with insecure-skip-tls-verify",
      );
    }
    const cert = await this.content(user, "user", "client-certificate");
    const key = await this.content(user, "user", "client-key");
    if ((cert === undefined) !== (key === undefined)) {
      throw new ConfigurationFault(
        "user.client-certificate and user.client-key are given together or not at all",
      );
    }
    if (cert !== undefined) checkPair(cert, key!);
    const serverName = text(cluster, "tls-server-name", "cluster.tls-server-name");
    return {
      verify: !skip,
      ca: ca === undefined ? undefined : authoritiesIn(ca, "cluster.certificate-authority"),
      cert,
      key,
      serverName: serverName === "" ? undefined : serverName,
    };
  }

  async credentials(user: Fields): Promise<RemoteCredentials> {
    for (const unsupported of ["exec", "auth-provider"]) {
      if (own(user, unsupported) !== undefined) {
        throw new ConfigurationFault(
          `user.${unsupported}: programs that fetch credentials are not supported`,
        );
      }
    }
    const file = text(user, "tokenFile", "user.tokenFile");
    if (file !== "") {
      const resolved = path.resolve(this.folder, file);
      await readNamed(resolved, "user.tokenFile");
      return { kind: "token-file", file: resolved };
    }
    const token = text(user, "token", "user.token");
    if (token !== "") return { kind: "token", token };
    const name = text(user, "username", "user.username");
    const password = text(user, "password", "user.password");
    return name === "" ? { kind: "none" } : { kind: "basic", user: name, password };
  }

  /** Returns inline data (`…-data`, in base64) or the content of a file; inline data takes precedence. */
  private async content(from: Fields, owner: string, name: string): Promise<string | undefined> {
    const data = text(from, `${name}-data`, `${owner}.${name}-data`);
    if (data !== "") return Buffer.from(data, "base64").toString("utf8");
    const file = text(from, name, `${owner}.${name}`);
    if (file === "") return undefined;
    const resolved = path.resolve(this.folder, file);
    this.files.push(resolved);
    return (await readNamed(resolved, `${owner}.${name}`)).toString("utf8");
  }
}

/**
 * Returns the CA certificates of a PEM text.
 *
 * @param errorPrefix a field or a file.
 * @throws {ConfigurationFault} if there is none, or one is invalid.
 */
export function authoritiesIn(pem: string, errorPrefix: string): string[] {
  const blocks = certificatesIn(pem);
  if (blocks.length === 0) throw new ConfigurationFault(`${errorPrefix}: holds no certificate in PEM`);
  for (const block of blocks) certificate(block, errorPrefix);
  return blocks;
}

function checkPair(cert: string, key: string): void {
  const read = certificate(cert, "user.client-certificate");
  let belongs: boolean;
  try {
    belongs = read.checkPrivateKey(createPrivateKey(key));
  } catch {
    throw new ConfigurationFault("user.client-key: holds no unencrypted private key in PEM");
  }
  if (!belongs) throw new ConfigurationFault("user.client-key: is not the key of user.client-certificate");
}

function certificate(pem: string, errorPrefix: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new ConfigurationFault(`${errorPrefix}: holds no certificate in PEM`);
  }
}

/**
 * Reads a file.
 *
 * @param errorPrefix the field that names it; empty for the configuration itself.
 * @throws {ConfigurationFault} if it can't be read.
 */
export async function readNamed(file: string, errorPrefix: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const why = whyUnreadable(error);
    throw new ConfigurationFault(errorPrefix === "" ? why : `${errorPrefix}: ${file}: ${why}`);
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own(from: Fields, name: string): unknown {
  const value = Object.hasOwn(from, name) ? from[name] : undefined;
  return value === null ? undefined : value;
}

function fields(value: unknown, errorPrefix: string): Fields {
  if (!isFields(value)) throw new ConfigurationFault(`${errorPrefix}: is not an object`);
  return value;
}

/** Returns a string; empty if it is absent. */
function text(from: Fields, name: string, errorPrefix: string): string {
  const value = own(from, name) ?? "";
  if (typeof value !== "string") throw new ConfigurationFault(`${errorPrefix}: is not a text`);
  return value;
}
