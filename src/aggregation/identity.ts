import type { UserInfo } from "../base/user-info.ts";
import { StatusError } from "../base/status-error.ts";

/** Headers by which an extension server is told on whose behalf a request is made; in lower case. */
export type ForwardedIdentity = Readonly<Record<string, string | readonly string[]>>;

const extraPrefix = "x-remote-extra-";

/**
 * The identity of a user in the headers of the front proxy (spec: conventions 5.8): `X-Remote-User`, `X-Remote-Group` and
 * `X-Remote-Extra-<key>`. Characters of a key that a header's name can't have are percent-encoded; values are UTF-8.
 *
 * @throws {StatusError} Forbidden for a name, group or value that the receiver would read as another one.
 */
export function identityHeaders({ name, groups, extra }: UserInfo): ForwardedIdentity {
  // Without a prototype: the keys of extra are chosen by others.
  const headers = Object.create(null) as Record<string, string | readonly string[]>;
  headers["x-remote-user"] = headerValue(name);
  if (groups.length > 0) headers["x-remote-group"] = groups.map(headerValue);
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) headers[`${extraPrefix}${escapedKey(key)}`] = values.map(headerValue);
  }
  return headers;
}

/**
 * Whether a header (its name in lower case) tells the identity of a user. Some servers take an underscore for a dash, so such a
 * spelling counts as well.
 */
export function isForwardedIdentity(name: string): boolean {
  return forwarded.test(name);
}

const forwarded = /^x[-_]remote[-_]/;

/** UTF-8 bytes, one a character, as Node sends them. */
function headerValue(text: string): string {
  // Receivers trim header values, so a value with outer blanks would name another user.
  if (text.trim() !== text || controls.test(text)) {
    throw new StatusError(
      "Forbidden",
      `the identity ${JSON.stringify(text)} can't be told to an extension server`,
    );
  }
  return Buffer.from(text, "utf8").toString("latin1");
}

// oxlint-disable-next-line no-control-regex
const controls = /[\x00-\x1f\x7f]/;

/** A key of extra as a part of a header's name. */
function escapedKey(key: string): string {
  return Buffer.from(key.toLowerCase(), "utf8")
    .toString("latin1")
    .replaceAll(/[^!#$&'*+\-.^_`|~0-9a-z]/g, (char) => {
      return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
    });
}
