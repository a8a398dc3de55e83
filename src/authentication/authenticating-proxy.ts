import type { UserInfo } from "../base/user-info.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import type { ClientCertificateVerifier } from "./presented-certificate.ts";
import { refusal } from "./refusal.ts";

/** The request headers in which a proxy sends the user; names in lower case. */
export interface IdentityHeaders {
  /** Headers with the user name; the first one with a value is used. */
  readonly username: readonly string[];
  /** Headers with the uid; the first one with a value is used. */
  readonly uids: readonly string[];
  /** Headers with groups; each value of each header is a group. */
  readonly groups: readonly string[];
  /** Prefixes of headers with extra fields; the rest of the header name is the key. */
  readonly extraPrefixes: readonly string[];
}

const errorPrefix = "authenticating proxy";

/**
 * Authenticates requests by headers that a trusted proxy sets (spec: conventions 5.8). The proxy must present a client
 * certificate that is signed by a CA for proxies and has an allowed common name. Headers of other clients are ignored.
 */
export class AuthenticatingProxy implements Authenticator {
  /**
   * @param certificates verifies certificates of proxies (`--requestheader-client-ca-file`).
   * @param allowedNames allowed common names of proxies; empty allows all.
   */
  constructor(
    private readonly headers: IdentityHeaders,
    private readonly certificates: ClientCertificateVerifier,
    private readonly allowedNames: readonly string[],
  ) {}

  authenticate(credentials: Credentials): AuthenticationResult | undefined {
    const { certificate, rawHeaders } = credentials;
    if (certificate === undefined || rawHeaders === undefined) return undefined;
    if (!this.certificates.isTrusted(credentials)) return undefined;
    const values = valuesByName(rawHeaders);
    const name = firstValue(values, this.headers.username);
    if (name === undefined) return undefined;
    const { commonName } = this.certificates.subjectOf(certificate);
    if (this.allowedNames.length > 0 && !this.allowedNames.includes(commonName)) {
      throw refusal(
        `${errorPrefix}: the common name of its certificate is not allowed (--requestheader-allowed-names)`,
      );
    }
    const groups = this.headers.groups.flatMap((header) => nonEmpty(values.get(header)).map(decodeUtf8));
    const uid = firstValue(values, this.headers.uids) ?? "";
    const user: UserInfo = { name, uid, groups, extra: this.extra(values) };
    return { user, method: "authenticating-proxy", cacheable: false };
  }

  private extra(values: HeaderValues): UserInfo["extra"] {
    const extra = new Map<string, string[]>();
    for (const [header, headerValues] of values) {
      for (const prefix of this.headers.extraPrefixes) {
        if (!header.startsWith(prefix) || header.length === prefix.length) continue;
        const key = decodeKey(header.slice(prefix.length));
        extra.set(key, [...(extra.get(key) ?? []), ...headerValues.map(decodeUtf8)]);
      }
    }
    return Object.fromEntries(extra);
  }
}

/** Returns the value of the first header that has one. Several values are rejected, because they are ambiguous. */
function firstValue(values: HeaderValues, headers: readonly string[]): string | undefined {
  for (const header of headers) {
    const [value, ...more] = nonEmpty(values.get(header));
    if (more.length > 0)
      throw refusal(`${errorPrefix}: the header ${JSON.stringify(header)} has several values`);
    if (value !== undefined) return decodeUtf8(value);
  }
  return undefined;
}

/** Whether a header (in lower case) contains the identity of the user. Such headers must not be forwarded. */
export function isIdentityHeader(
  { username, uids, groups, extraPrefixes }: IdentityHeaders,
  name: string,
): boolean {
  return (
    username.includes(name) ||
    uids.includes(name) ||
    groups.includes(name) ||
    extraPrefixes.some((prefix) => name.startsWith(prefix))
  );
}

/** Values of headers by name in lower case, in the order of the request. */
type HeaderValues = ReadonlyMap<string, readonly string[]>;

function valuesByName(raw: readonly string[]): HeaderValues {
  const values = new Map<string, string[]>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!.toLowerCase();
    const existing = values.get(name);
    if (existing === undefined) values.set(name, [raw[index + 1]!]);
    else existing.push(raw[index + 1]!);
  }
  return values;
}

function nonEmpty(values: readonly string[] = []): string[] {
  return values.filter((value) => value !== "");
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes a header value as UTF-8. Node provides the bytes as latin1. */
function decodeUtf8(value: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  try {
    return utf8.decode(Buffer.from(value, "latin1"));
  } catch {
    throw refusal(`${errorPrefix}: a header is not in UTF-8`);
  }
}

/** Decodes a percent-encoded key; returns a malformed one unchanged. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
