/** Characters that Go's `URL.EscapedPath` leaves as they are. */
const plainInPath = /[^A-Za-z0-9\-_.~$&+,/:;=@]/gu;

/** A decoded path with percent-encodings, in the form in which Go writes it. */
export function encodePath(decoded: string): string {
  return decoded.replace(plainInPath, percentEncoded);
}

function percentEncoded(character: string): string {
  return [...Buffer.from(character, "utf8")]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}

/**
 * Cleans the path of a URL as the reference does before it calls a webhook: repeated slashes become one, `.` and `..` are resolved,
 * and a slash at the end is left out. Servers in Go answer other paths with a redirect, which is never followed. Changes the URL.
 */
export function cleanPath(url: URL): URL {
  const segments: string[] = [];
  for (const segment of decoded(url.pathname).split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  url.pathname = encodePath(`/${segments.join("/")}`);
  return url;
}

/** A path whose encoding is broken stays as it is. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
