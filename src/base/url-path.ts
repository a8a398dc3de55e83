import { encodePath } from "./percent-encoding.ts";

/**
 * Cleans the path of a URL as the reference does before it calls a webhook: repeated slashes become one, `.` and `..` are resolved,
 * and a trailing slash is removed. Servers in Go answer other paths with a redirect, which the server never follows. Changes
 * the URL. A path with invalid percent-encoding isn't changed.
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
    // decodeURIComponent throws for no other reason.
    return undefined;
  }
}
