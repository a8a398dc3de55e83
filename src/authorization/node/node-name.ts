import type { UserInfo } from "../../base/user-info.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/**
 * The node whose agent a user is: user `system:node:NAME` in group `system:nodes`. Empty for an agent that names no node,
 * undefined for any other user.
 */
export function nodeNameOf({ systemPrefix }: Vocabulary, { name, groups }: UserInfo): string | undefined {
  const prefix = `${systemPrefix}node:`;
  if (!name.startsWith(prefix) || !groups.includes(`${systemPrefix}nodes`)) return undefined;
  return name.slice(prefix.length);
}
