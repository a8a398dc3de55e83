import type { ResourceFacts } from "../request/facts.ts";

/**
 * What a path says behind the subresource, as it was sent: percent-encodings, doubled and trailing slashes are kept.
 * Empty, or with a slash in front.
 */
export function pathBehind({ path, group, namespace }: ResourceFacts): string {
  // api/v1 or apis/group/v1; namespaces/x; resource, name and subresource.
  const segments = (group === "" ? 2 : 3) + (namespace === "" ? 0 : 2) + 3;
  let at = 0;
  for (let passed = 0; passed < segments; passed++) {
    at = path.indexOf("/", at + 1);
    if (at === -1) return "";
  }
  return path.slice(at);
}

/** The query of a URL as it was sent, with its question mark; empty when there is none. */
export function queryOf(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark);
}
