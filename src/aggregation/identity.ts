import type { UserInfo } from "../base/user-info.ts";
import { StatusError } from "../base/status-error.ts";

/** Headers with the user of a forwarded request; names in lower case. */
export type ForwardedIdentity = Readonly<Record<string, string | readonly string[]>>;

const extraPrefix = "x-remote-extra-";

/**
 * Returns the front proxy headers for a user (spec: conventions 5.8): `X-Remote-User`, `X-Remote-Group` and `X-Remote-Extra-<key>`,
 * and `X-Remote-Uid` if `withUid` is true.
 * Characters of a key that are invalid in header names are percent-encoded; values are UTF-8.
 *
 * @throws {StatusError} Forbidden for a name, group or value that the receiver would read differently.
 */
export function identityHeaders({ name, uid, groups, extra }: UserInfo, withUid = false): ForwardedIdentity {
  // Without a prototype, because clients can choose the keys of extra.
  const headers = Object.create(null) as Record<string, string | readonly string[]>;
  headers["x-remote-user"] = headerValue(name);
  if (withUid && uid !== "") headers["x-remote-uid"] = headerValue(uid);
  if (groups.length > 0) headers["x-remote-group"] = groups.map(headerValue);
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) headers[`${extraPrefix}${escapedKey(key)}`] = values.map(headerValue);
  }
  return headers;
}

/**
 * Whether a header (name in lower case) is an identity header. Some servers treat underscores as dashes, so names with underscores
 * match too.
 */
export function isForwardedIdentity(name: string): boolean {
  return forwarded.test(name);
}

const forwarded = /^x[-_]remote[-_]/;

/** Encodes a text as UTF-8 with one character per byte, as Node sends header values. */
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

/** Escapes a key of extra for a header name. */
function escapedKey(key: string): string {
  return Buffer.from(key.toLowerCase(), "utf8")
    .toString("latin1")
    .replaceAll(/[^!#$&'*+\-.^_`|~0-9a-z]/g, (char) => {
      return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
    });
}
