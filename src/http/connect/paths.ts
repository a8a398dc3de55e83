import type { ResourceFacts } from "../request/facts.ts";
import { splitAfter, type SplitPath } from "../request/path.ts";

/** Splits the path of a connection from the rest, both as sent by the client. */
export function connectionPath({ sentPath, group, namespace }: ResourceFacts): SplitPath {
  // api/v1 or apis/group/v1; namespaces/x; resource, name and subresource.
  return splitAfter(sentPath, (group === "" ? 2 : 3) + (namespace === "" ? 0 : 2) + 3);
}

/** Returns the query of a URL as sent, with its question mark; empty without one. */
export function queryOf(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark);
}
