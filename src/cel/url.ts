import { decodedPercent, encodePath } from "../base/percent-encoding.ts";
import { Url } from "./values.ts";

const scheme = /^([a-zA-Z][a-zA-Z0-9+\-.]*):/;
const badEscape = /%(?![\da-fA-F]{2})/;
/** What can't be in a host, beside brackets; only zones of addresses have escaped percent signs. */
const notInHost = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\x80-\uffff]|%(?!25|[89a-fA-F][\da-fA-F])/;
const notInUser = /[^A-Za-z0-9\-._:~!$&'()*+,;=@%]|%(?![\da-fA-F]{2})/;
/** What has to be escaped in a path. */
const notInPath = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/[\]%]/;
const port = /^(?::\d*)?$/;

/** A URL that is read in one of two ways, which differ in a fragment and in a path of two slashes. */
type Reading = "request" | "reference";

/**
 * Reads an absolute URL, or an absolute path, as Go's `url.Parse` does.
 *
 * @returns undefined for text that isn't one.
 */
export function parseUrl(text: string): Url | undefined {
  if (!isUrl(text)) return undefined;
  const mark = text.indexOf("#");
  if (mark < 0) return read(text, "reference");
  return badEscape.test(text.slice(mark)) ? undefined : read(text.slice(0, mark), "reference");
}

/** Whether a text is an absolute URL, or an absolute path, to Go's `url.ParseRequestURI`. */
export function isUrl(text: string): boolean {
  return text !== "" && !hasControlCharacter(text) && read(text, "request") !== undefined;
}

function read(text: string, reading: Reading): Url | undefined {
  if (text === "*") return new Url(text, { scheme: "", host: "", path: "*", query: "" });
  if (text.startsWith(":")) return undefined;
  const name = scheme.exec(text)?.[1] ?? "";
  const behind = name === "" ? text : text.slice(name.length + 1);
  const mark = behind.indexOf("?");
  const query = mark < 0 ? "" : behind.slice(mark + 1);
  let path = mark < 0 ? behind : behind.slice(0, mark);
  const parts = { scheme: name.toLowerCase(), host: "", query };
  // What follows a scheme without a slash isn't read.
  if (!path.startsWith("/")) return name === "" ? undefined : new Url(text, { ...parts, path: "" });
  const hasHost = name !== "" || (reading === "reference" && !path.startsWith("///"));
  if (hasHost && path.startsWith("//")) {
    const end = path.indexOf("/", 2);
    const host = hostOf(end < 0 ? path.slice(2) : path.slice(2, end));
    if (host === undefined) return undefined;
    path = end < 0 ? "" : path.slice(end);
    parts.host = host;
  }
  return badEscape.test(path) ? undefined : new Url(text, { ...parts, path });
}

/** The host of an authority, with its port; undefined where the host, the port or the user isn't valid. */
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

/** The path of a URL as it is written where it may be so, else escaped anew. */
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
