import { StatusError } from "../../base/status-error.ts";

/*
 * All code that reads request paths uses these functions. A path is decoded once and then split at its slashes, as in Go's net/http and
 * the reference: an encoded slash (`%2F`) separates segments too. So authorization, this server and an extension server that gets the
 * forwarded path read it in the same way.
 */

/**
 * Decodes the percent-encodings of a path.
 *
 * @param path the path as sent, without the query.
 * @throws {StatusError} BadRequest for a text that isn't a path, and for invalid percent-encoding.
 */
export function decodePath(path: string): string {
  if (!path.startsWith("/"))
    throw new StatusError("BadRequest", `what is asked for is no path: ${JSON.stringify(path)}`);
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw new StatusError("BadRequest", `the path ${JSON.stringify(path)} is not well encoded`);
  }
}

/** Returns the segments of a decoded path; leading and trailing slashes are ignored. Empty for the root. */
export function segmentsOf(decoded: string): string[] {
  let start = 0;
  let end = decoded.length;
  while (start < end && decoded[start] === "/") start++;
  while (end > start && decoded[end - 1] === "/") end--;
  return start === end ? [] : decoded.slice(start, end).split("/");
}

/** A path in two parts. */
export interface SplitPath {
  /** Without the slash that separates the parts. */
  readonly before: string;
  /** Empty, or starting with a slash. */
  readonly after: string;
}

/**
 * Splits a path, which must begin with exactly one slash, after a number of segments. Both parts keep their percent-encodings, and double
 * and trailing slashes.
 *
 * @param path the path as sent, without the query; its percent-encoding must be valid.
 */
export function splitAfter(path: string, count: number): SplitPath {
  // Splitting at encoded and plain slashes gives the segments of the decoded path.
  const slashes = /\/|%2f/gi;
  for (let passed = 0; ; passed++) {
    const slash = slashes.exec(path);
    if (slash === null) return { before: path, after: "" };
    if (passed < count) continue;
    return { before: path.slice(0, slash.index), after: `/${path.slice(slash.index + slash[0].length)}` };
  }
}

/** Whether a decoded path has a segment `.` or `..`, or a control character: other servers may interpret these differently. */
export function hasSpecialSegment(decoded: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\0-\x1f\x7f]|(?:^|\/)\.{1,2}(?:\/|$)/.test(decoded);
}
