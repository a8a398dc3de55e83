import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { accountGroupsOf } from "./service-accounts/names.ts";

/**
 * Returns the groups that authentication adds to the user of a name: `system:authenticated`, or `system:unauthenticated` for
 * `system:anonymous`, and those of service accounts.
 */
export function addedGroups(vocabulary: Vocabulary, user: string): string[] {
  const { systemPrefix } = vocabulary;
  const isAnonymous = user === `${systemPrefix}anonymous`;
  const own = `${systemPrefix}${isAnonymous ? "unauthenticated" : "authenticated"}`;
  return [...accountGroupsOf(vocabulary, user), own];
}
