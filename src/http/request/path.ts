import { StatusError } from "../../base/status-error.ts";

/*
 * The one reader of request paths. A path is decoded once and then split at its slashes, as Go's net/http and the reference do: an
 * encoded slash (`%2F`) separates segments like any other. So authorization is asked about what the server does, and about what an
 * extension server does with the path that is forwarded to it.
 */

/**
 * A path without percent-encodings.
 *
 * @param path without the query, as it was sent.
 * @throws {StatusError} BadRequest for what is no path, and for a path with broken percent-encoding.
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

/** The segments of a decoded path; slashes at its beginning and end count for nothing. None for the root. */
export function segmentsOf(decoded: string): string[] {
  let start = 0;
  let end = decoded.length;
  while (start < end && decoded[start] === "/") start++;
  while (end > start && decoded[end - 1] === "/") end--;
  return start === end ? [] : decoded.slice(start, end).split("/");
}

/** A path in two parts. */
export interface SplitPath {
  /** Without a slash at its end. */
  readonly before: string;
  /** Empty, or with a slash in front. */
  readonly after: string;
}

/**
 * Splits a path that begins with one slash behind a number of segments. Both parts stay as they were sent, with their
 * percent-encodings, doubled and trailing slashes.
 *
 * @param path without the query, as it was sent; decoding it must be possible.
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

/** Whether a decoded path has a segment `.` or `..`, or a control character: other servers don't read these as names. */
export function hasSpecialSegment(decoded: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\0-\x1f\x7f]|(?:^|\/)\.{1,2}(?:\/|$)/.test(decoded);
}
