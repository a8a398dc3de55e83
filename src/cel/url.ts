import { Url } from "./values.ts";

const scheme = /^([a-zA-Z][a-zA-Z0-9+\-.]*):/;
const badEscape = /%(?![\da-fA-F]{2})/;
/** A host's name or address in brackets, and its port; only zones of addresses have escaped percent signs. */
const hostForm = /^(?:\[[^\]]*\]|[^[\]:]*(?::[^[\]:]*)*?)(?::\d*)?$/;
const hostCharacters = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"]|[^\0-\x7f]|%25|%[89a-fA-F][\da-fA-F])*$/;
const userCharacters = /^(?:[A-Za-z0-9\-._:~!$&'()*+,;=@]|%[\da-fA-F]{2})*$/;
/** Characters of a path that need no escaping where the path is written as it was given. */
const validPath = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/[\]]|%[\da-fA-F]{2})*$/;

/**
 * Reads an absolute URL, or an absolute path, as Go's `url.ParseRequestURI` does.
 *
 * @returns undefined for other text.
 */
export function parseUrl(text: string): Url | undefined {
  if (text === "" || hasControlCharacter(text)) return undefined;
  if (text === "*") return new Url(text, "", "", "*", "");
  const name = scheme.exec(text)?.[1] ?? "";
  if (text.startsWith(":")) return undefined;
  const behind = name === "" ? text : text.slice(name.length + 1);
  const mark = behind.indexOf("?");
  const query = mark < 0 ? "" : behind.slice(mark + 1);
  let rest = mark < 0 ? behind : behind.slice(0, mark);
  if (!rest.startsWith("/")) {
    // What follows a scheme without a slash isn't looked at.
    return name === "" ? undefined : new Url(text, name.toLowerCase(), "", "", query);
  }
  let host = "";
  if (name !== "" && rest.startsWith("//")) {
    const end = rest.indexOf("/", 2);
    const authority = end < 0 ? rest.slice(2) : rest.slice(2, end);
    rest = end < 0 ? "" : rest.slice(end);
    const at = authority.lastIndexOf("@");
    if (at >= 0 && !userCharacters.test(authority.slice(0, at))) return undefined;
    const found = hostOf(authority.slice(at + 1));
    if (found === undefined) return undefined;
    host = found;
  }
  if (badEscape.test(rest)) return undefined;
  return new Url(text, name.toLowerCase(), host, escapedPath(rest), query);
}

function hostOf(text: string): string | undefined {
  if (text.startsWith("[") ? !hostForm.test(text) : !/^[^[\]]*$/.test(text)) return undefined;
  if (!hostCharacters.test(text)) return undefined;
  const lastColon = text.startsWith("[") ? text.indexOf(":", text.indexOf("]")) : text.lastIndexOf(":");
  if (lastColon >= 0 && !/^:\d*$/.test(text.slice(lastColon))) return undefined;
  return text.replaceAll("%25", "%");
}

/** The path as it was given where it may stand so, else escaped anew. */
function escapedPath(path: string): string {
  if (validPath.test(path)) return path;
  return path.replaceAll(/%[\da-fA-F]{2}|[^A-Za-z0-9\-._~$&+,/:;=@]/gu, (found) => {
    return found.length === 3 && found.startsWith("%") ? found : percentEncoded(found);
  });
}

/** Every byte of a text, escaped. */
export function percentEncoded(text: string): string {
  return [...Buffer.from(text, "utf8")]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}

function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}
