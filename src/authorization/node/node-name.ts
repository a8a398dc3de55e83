import type { UserInfo } from "../../base/user-info.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/**
 * Returns the node name of a node agent: a user `system:node:NAME` in the group `system:nodes`. Empty if the agent's name has no
 * node name; undefined for any other user.
 */
export function nodeNameOf({ systemPrefix }: Vocabulary, { name, groups }: UserInfo): string | undefined {
  const prefix = `${systemPrefix}node:`;
  if (!name.startsWith(prefix) || !groups.includes(`${systemPrefix}nodes`)) return undefined;
  return name.slice(prefix.length);
}
