import type { ResourceFacts } from "../request/facts.ts";
import { splitAfter, type SplitPath } from "../request/path.ts";

/** The path of a connection, and what a client asks for behind it; both as they were sent. */
export function connectionPath({ sentPath, group, namespace }: ResourceFacts): SplitPath {
  // api/v1 or apis/group/v1; namespaces/x; resource, name and subresource.
  return splitAfter(sentPath, (group === "" ? 2 : 3) + (namespace === "" ? 0 : 2) + 3);
}

/** The query of a URL as it was sent, with its question mark; empty when there is none. */
export function queryOf(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark);
}
