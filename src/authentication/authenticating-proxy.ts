import type { UserInfo } from "../base/user-info.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import type { CertificateJudge } from "./presented-certificate.ts";
import { refusal } from "./refusal.ts";

/** In which headers a proxy says who somebody is; names in lower case. */
export interface IdentityHeaders {
  /** The first of them that has a value names the user. */
  readonly username: readonly string[];
  /** Each value of each of them is a group. */
  readonly groups: readonly string[];
  /** The rest of a header name after one of these prefixes is a key of extra. */
  readonly extraPrefixes: readonly string[];
}

const what = "authenticating proxy";

/**
 * Believes what a proxy says in headers about who somebody is (spec: conventions 5.8), when the proxy itself shows a
 * certificate of the authorities for proxies, by an allowed name. From anybody else the headers mean nothing.
 */
export class AuthenticatingProxy implements Authenticator {
  /**
   * @param judge of the authorities of proxies.
   * @param allowedNames common names of proxies; empty: all.
   */
  constructor(
    private readonly headers: IdentityHeaders,
    private readonly judge: CertificateJudge,
    private readonly allowedNames: readonly string[],
  ) {}

  authenticate(credentials: Credentials): AuthenticationResult | undefined {
    const { certificate, rawHeaders } = credentials;
    if (certificate === undefined || rawHeaders === undefined) return undefined;
    if (!this.judge.knows(credentials)) return undefined;
    const values = valuesByName(rawHeaders);
    const name = this.username(values);
    if (name === undefined) return undefined;
    const { commonName } = this.judge.subjectOf(certificate);
    if (this.allowedNames.length > 0 && !this.allowedNames.includes(commonName)) {
      throw refusal(`${what}: its certificate's name is not among the allowed ones`);
    }
    const groups = this.headers.groups.flatMap((header) => filled(values.get(header)).map(decoded));
    const user: UserInfo = { name, uid: "", groups, extra: this.extra(values) };
    return { user, method: "authenticating-proxy", cacheable: false };
  }

  /** The value of the first header that has one. Of two values the proxy may have meant only one. */
  private username(values: HeaderValues): string | undefined {
    for (const header of this.headers.username) {
      const [name, ...more] = filled(values.get(header));
      if (more.length > 0) throw refusal(`${what}: the header ${JSON.stringify(header)} has several values`);
      if (name !== undefined) return decoded(name);
    }
    return undefined;
  }

  private extra(values: HeaderValues): UserInfo["extra"] {
    const extra = new Map<string, string[]>();
    for (const [header, found] of values) {
      for (const prefix of this.headers.extraPrefixes) {
        if (!header.startsWith(prefix) || header.length === prefix.length) continue;
        const key = decodedKey(header.slice(prefix.length));
        extra.set(key, [...(extra.get(key) ?? []), ...found.map(decoded)]);
      }
    }
    return Object.fromEntries(extra);
  }
}

/** Whether a header (in lower case) says who somebody is, so that it is not for others to see. */
export function isIdentityHeader(
  { username, groups, extraPrefixes }: IdentityHeaders,
  name: string,
): boolean {
  return (
    username.includes(name) ||
    groups.includes(name) ||
    extraPrefixes.some((prefix) => name.startsWith(prefix))
  );
}

/** Values of headers, by names in lower case, in the order in which they were sent. */
type HeaderValues = ReadonlyMap<string, readonly string[]>;

function valuesByName(raw: readonly string[]): HeaderValues {
  const values = new Map<string, string[]>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    const known = values.get(name);
    if (known === undefined) values.set(name, [raw[at + 1]!]);
    else known.push(raw[at + 1]!);
  }
  return values;
}

function filled(values: readonly string[] = []): string[] {
  return values.filter((value) => value !== "");
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A header's value is bytes, which are text in UTF-8. */
function decoded(value: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  try {
    return utf8.decode(Buffer.from(value, "latin1"));
  } catch {
    throw refusal(`${what}: a header is not in UTF-8`);
  }
}

/** A key in percent encoding; one that isn't well encoded stands for itself. */
function decodedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
