import { encodePath } from "./percent-encoding.ts";

/**
 * Cleans the path of a URL as the reference does before it calls a webhook: repeated slashes become one, `.` and `..` are resolved,
 * and a slash at the end is left out. Servers in Go answer other paths with a redirect, which is never followed. Changes the URL. A path
 * with broken percent-encoding stays as it is.
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

/** Undefined for broken percent-encoding. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    // It throws for nothing else.
    return undefined;
  }
}
