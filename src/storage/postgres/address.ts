import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { ConnectionOptions as TlsOptions } from "node:tls";
import { peerTrust } from "../../base/certificates/peer-trust.ts";

/** A part of a URL of a database isn't valid. The message doesn't contain the URL, which may have a password. */
export class AddressError extends Error {
  override name = "AddressError";
}

/** A server of the database. */
export interface Host {
  /** Name or IP address; the folder of the socket if it begins with `/`. */
  readonly host: string;
  readonly port: number;
  /** TLS settings; false for none. */
  readonly ssl: TlsOptions | false;
}

/** Where a database is and how to connect to it. */
export interface DatabaseAddress {
  /** The servers of the database, of which one accepts writes. */
  readonly hosts: readonly Host[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly applicationName: string;
  /** Risks of the address, for the log. */
  readonly warnings: readonly string[];
}

const defaultPort = 5432;

const modes = ["disable", "require", "verify-ca", "verify-full"] as const;
type Mode = (typeof modes)[number];

/** The parameters of the URL that are supported, as libpq names them. */
const parameters = [
  "application_name",
  "dbname",
  "host",
  "password",
  "port",
  "sslcert",
  "sslkey",
  "sslmode",
  "sslrootcert",
  "target_session_attrs",
  "user",
];

const form = "postgres://USER[:PASSWORD]@HOST[:PORT][,HOST[:PORT]…]/DATABASE[?PARAMETER=VALUE&…]";

/**
 * Parses the URL of a database, as libpq does, with these differences: without `sslmode`, connections to other machines use TLS and
 * verify the certificate and its name; modes that fall back to plain text, and unknown parameters, are errors.
 *
 * @throws {AddressError} which names the part that isn't valid.
 */
export function parseAddress(url: string): DatabaseAddress {
  const scheme = /^postgres(?:ql)?:\/\//.exec(url)?.[0];
  if (scheme === undefined) throw new AddressError(`the URL is not ${form}`);
  const rest = url.slice(scheme.length);
  const queryAt = rest.indexOf("?");
  const beforeQuery = queryAt < 0 ? rest : rest.slice(0, queryAt);
  const slash = beforeQuery.indexOf("/");
  const authority = slash < 0 ? beforeQuery : beforeQuery.slice(0, slash);
  const path = slash < 0 ? "" : beforeQuery.slice(slash + 1);
  const at = authority.lastIndexOf("@");
  const isCut = path.includes("@") || (at < 0 && rest.includes("@", authority.length));
  if (isCut || authority.includes("#"))
    throw new AddressError(
      "the user, the password or the database has a special character: " +
        "write / as %2F, ? as %3F, # as %23, @ as %40, % as %25",
    );
  const query = readParameters(queryAt < 0 ? "" : rest.slice(queryAt + 1));
  const credentials = at < 0 ? "" : authority.slice(0, at);
  const colon = credentials.indexOf(":");
  const name = colon < 0 ? credentials : credentials.slice(0, colon);
  const secret = colon < 0 ? "" : credentials.slice(colon + 1);
  const warnings: string[] = [];
  return {
    hosts: readHosts(authority.slice(at + 1), query, warnings),
    user: query.get("user") ?? (decode(name, "the user") || undefined),
    password: query.get("password") ?? (decode(secret, "the password") || undefined),
    database: query.get("dbname") ?? (decode(path, "the database") || undefined),
    applicationName: query.get("application_name") ?? "plinth",
    warnings,
  };
}

/** Returns the servers of a database for messages, without user and password. */
export function describeHosts({ hosts }: DatabaseAddress): string {
  return hosts
    .map(({ host, port }) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`))
    .join(", ");
}

function readParameters(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const one of text.split("&")) {
    if (one === "") continue;
    const equals = one.indexOf("=");
    const name = equals < 0 ? one : one.slice(0, equals);
    if (!parameters.includes(name)) {
      // A password with a special character continues in the next parameter.
      const isName = /^[a-z_]+$/.test(name) && !values.has("password");
      throw new AddressError(
        `${isName ? `the parameter ${name}` : "a parameter"} is not supported; supported are ${parameters.join(", ")}; ` +
          "in values, write & as %26",
      );
    }
    if (values.has(name)) throw new AddressError(`the parameter ${name} is given twice`);
    values.set(name, decode(equals < 0 ? "" : one.slice(equals + 1), `the parameter ${name}`));
  }
  const target = values.get("target_session_attrs");
  if (target !== undefined && target !== "read-write" && target !== "primary")
    throw new AddressError(
      "target_session_attrs must be read-write or primary: the server writes to the database",
    );
  return values;
}

function readHosts(authority: string, query: ReadonlyMap<string, string>, warnings: string[]): Host[] {
  const listed = (authority === "" ? (query.get("host") ?? "localhost") : authority).split(",");
  const ports = (query.get("port") ?? "").split(",");
  const settings = readTls(query);
  return listed.map((one, index) => {
    const text = decode(one, "the host");
    const { name, port } = splitPort(text);
    const portText = port ?? ports[index] ?? (ports.length === 1 ? ports[0]! : "");
    const host = { host: name === "" ? "localhost" : name, port: portOf(portText) };
    return { ...host, ssl: tlsFor(host.host, settings, warnings) };
  });
}

function splitPort(text: string): { name: string; port: string | undefined } {
  if (text.startsWith("/")) return { name: text, port: undefined };
  if (text.startsWith("[")) {
    const end = text.indexOf("]");
    const after = text.slice(end + 1);
    if (end < 0 || isIP(text.slice(1, end)) !== 6 || (after !== "" && !after.startsWith(":")))
      throw new AddressError("a host is not [IPv6-ADDRESS]:PORT");
    return { name: text.slice(1, end), port: after === "" ? undefined : after.slice(1) };
  }
  const colon = text.indexOf(":");
  return colon < 0
    ? { name: text, port: undefined }
    : { name: text.slice(0, colon), port: text.slice(colon + 1) };
}

function portOf(text: string): number {
  if (text === "") return defaultPort;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new AddressError("a port is not a number from 1 to 65535");
  return port;
}

interface TlsSettings {
  readonly mode: Mode | undefined;
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
}

function readTls(query: ReadonlyMap<string, string>): TlsSettings {
  const mode = query.get("sslmode");
  if (mode !== undefined && !modes.includes(mode as Mode))
    throw new AddressError(
      `sslmode ${JSON.stringify(mode)} is not supported; supported are ${modes.join(", ")}`,
    );
  const root = query.get("sslrootcert");
  const [certFile, keyFile] = [query.get("sslcert"), query.get("sslkey")];
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new AddressError("sslcert and sslkey are given together or not at all");
  return {
    mode: mode as Mode | undefined,
    ca: root === undefined || root === "system" ? undefined : readPem("sslrootcert", root),
    cert: certFile === undefined ? undefined : readPem("sslcert", certFile),
    key: keyFile === undefined ? undefined : readPem("sslkey", keyFile),
  };
}

function readPem(parameter: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new AddressError(`${parameter}: ${(error as Error).message}`, { cause: error });
  }
}

function tlsFor(host: string, { mode, ca, cert, key }: TlsSettings, warnings: string[]): TlsOptions | false {
  const isLocal = isLoopback(host);
  const chosen = mode ?? (isLocal ? "disable" : "verify-full");
  if (host.startsWith("/")) return false;
  if (chosen === "disable") {
    if (!isLocal)
      warnings.push(
        `sslmode=disable: objects and the password are sent to ${host} in plain text; use verify-full`,
      );
    return false;
  }
  // As with libpq, `require` verifies the certificate if there is a root certificate.
  const verifies = chosen !== "require" || ca !== undefined;
  if (!verifies && !isLocal)
    warnings.push(
      `sslmode=require: the certificate of ${host} isn't verified; use verify-full with sslrootcert`,
    );
  return {
    ...peerTrust(ca),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    minVersion: "TLSv1.2",
    rejectUnauthorized: verifies,
    ...(chosen === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
  };
}

function isLoopback(host: string): boolean {
  return (
    host.startsWith("/") ||
    host === "localhost" ||
    host === "::1" ||
    (isIP(host) === 4 && host.startsWith("127."))
  );
}

function decode(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AddressError(
      `${part} has a percent sign that doesn't begin an escape; write %25 for a percent sign`,
    );
  }
}
