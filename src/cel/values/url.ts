import { decodedPercent, encodePath } from "../../base/network/percent-encoding.ts";
import { Url } from "./values.ts";

const scheme = /^([a-zA-Z][a-zA-Z0-9+\-.]*):/;
const badEscape = /%(?![\da-fA-F]{2})/;
/** Characters that are not allowed in a host, except brackets; only IPv6 zones have escaped percent signs. */
const notInHost = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\x80-\uffff]|%(?!25|[89a-fA-F][\da-fA-F])/;
const notInUser = /[^A-Za-z0-9\-._:~!$&'()*+,;=@%]|%(?![\da-fA-F]{2})/;
/** Characters that must be escaped in a path. */
const notInPath = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/[\]%]/;
const port = /^(?::\d*)?$/;

/** How a URL is parsed; the modes differ for fragments and for paths with two slashes. */
type ParseMode = "request" | "reference";

/**
 * Parses an absolute URL or an absolute path as Go's `url.Parse` does.
 *
 * @returns undefined if it is malformed.
 */
export function parseUrl(text: string): Url | undefined {
  if (!isUrl(text)) return undefined;
  const mark = text.indexOf("#");
  if (mark < 0) return parse(text, "reference");
  return badEscape.test(text.slice(mark)) ? undefined : parse(text.slice(0, mark), "reference");
}

/** Whether Go's `url.ParseRequestURI` accepts a string: an absolute URL or an absolute path. */
export function isUrl(text: string): boolean {
  return text !== "" && !hasControlCharacter(text) && parse(text, "request") !== undefined;
}

function parse(text: string, mode: ParseMode): Url | undefined {
  if (text === "*") return new Url(text, { scheme: "", host: "", path: "*", query: "" });
  if (text.startsWith(":")) return undefined;
  const name = scheme.exec(text)?.[1] ?? "";
  const behind = name === "" ? text : text.slice(name.length + 1);
  const mark = behind.indexOf("?");
  const query = mark < 0 ? "" : behind.slice(mark + 1);
  let path = mark < 0 ? behind : behind.slice(0, mark);
  const parts = { scheme: name.toLowerCase(), host: "", query };
  // The part after a scheme without slash is opaque and not parsed.
  if (!path.startsWith("/")) return name === "" ? undefined : new Url(text, { ...parts, path: "" });
  const hasHost = name !== "" || (mode === "reference" && !path.startsWith("///"));
  if (hasHost && path.startsWith("//")) {
    const end = path.indexOf("/", 2);
    const host = hostOf(end < 0 ? path.slice(2) : path.slice(2, end));
    if (host === undefined) return undefined;
    path = end < 0 ? "" : path.slice(end);
    parts.host = host;
  }
  return badEscape.test(path) ? undefined : new Url(text, { ...parts, path });
}

/** Returns host and port of an authority; undefined if host, port or user is invalid. */
function hostOf(authority: string): string | undefined {
  const at = authority.lastIndexOf("@");
  if (at >= 0 && notInUser.test(authority.slice(0, at))) return undefined;
  const host = authority.slice(at + 1);
  const bracket = host.lastIndexOf("]");
  const isAddress = host.startsWith("[");
  if (isAddress ? bracket < 0 : bracket >= 0 || host.includes("[")) return undefined;
  const colon = isAddress ? bracket + 1 : host.lastIndexOf(":");
  if (colon >= 0 && !port.test(host.slice(colon))) return undefined;
  return notInHost.test(host) ? undefined : decodedPercent(host);
}

/** Returns the path unchanged if it is a valid encoding, else escapes it. */
export function escapedPath({ path }: Url): string {
  return notInPath.test(path) ? encodePath(decodedPercent(path)) : path;
}

function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}
