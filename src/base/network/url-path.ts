import { encodePath } from "./percent-encoding.ts";

/**
 * Normalizes the path of a URL as the reference does before it calls a webhook: merges repeated slashes, resolves `.` and `..`, and
 * removes a trailing slash. Go servers answer other paths with a redirect, which is never followed. Modifies the URL. A path with
 * invalid percent-encoding isn't changed.
 */
export function cleanPath(url: URL): URL {
  const path = decoded(url.pathname);
  if (path === undefined) return url;
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  url.pathname = encodePath(`/${segments.join("/")}`);
  return url;
}

/** Returns undefined for invalid percent-encoding. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    // decodeURIComponent throws only a URIError.
    return undefined;
  }
}
