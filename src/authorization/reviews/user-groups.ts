import type { UserInfo } from "../../base/user-info.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Attributes } from "../authorizer.ts";
import type { AuthorizerChain } from "../authorizer-chain.ts";
import type { AccessInsight, AllowedSubject, ShownSubject } from "../insight/insight.ts";

/** A group whose members are allowed an action that is denied to the user. */
export interface AllowedGroup {
  readonly name: string;
  readonly grants: AllowedSubject["grants"];
  readonly moreGrants?: boolean;
}

/** Maximum number of groups in a response. */
const maxGroups = 10;
/** Subjects are read in pages. */
const pageLimit = 100;
const maxPages = 10;

/** Returns the groups that authentication adds to every user of this name. */
function addedGroups(name: string, { systemPrefix }: Vocabulary): readonly string[] {
  const accounts = `${systemPrefix}serviceaccount:`;
  if (name === "" || name === `${systemPrefix}anonymous`) return [];
  const accountGroups = name.startsWith(accounts)
    ? [
        `${systemPrefix}serviceaccounts`,
        `${systemPrefix}serviceaccounts:${name.slice(accounts.length).split(":", 1)[0]}`,
      ]
    : [];
  return [...accountGroups, `${systemPrefix}authenticated`];
}

/** Returns the groups that authentication adds to the user and that the request doesn't contain. */
export function absentGroups({ name, groups }: UserInfo, vocabulary: Vocabulary): readonly string[] {
  return addedGroups(name, vocabulary).filter((group) => !groups.includes(group));
}

/**
 * Returns the groups whose members are allowed the action, if the request names an ordinary user without groups. Omits
 * groups that such a user can't be added to: those of service accounts, `system:unauthenticated` and `system:masters`.
 */
export async function allowedGroups(
  attributes: Attributes,
  chain: AuthorizerChain,
  vocabulary: Vocabulary,
): Promise<{ readonly allowedGroups?: readonly AllowedGroup[]; readonly moreAllowedGroups?: boolean }> {
  const { user, ...action } = attributes;
  const insight = chain.links.find((link) => link.insight !== undefined)?.insight;
  if (insight === undefined || !isOrdinaryUserWithoutGroups(user, vocabulary)) return {};
  const groups: AllowedGroup[] = [];
  for await (const { name, grants, moreGrants } of groupsThatCan(action, insight)) {
    if (!canJoin(name, vocabulary)) continue;
    if (groups.length === maxGroups) return { allowedGroups: groups, moreAllowedGroups: true };
    groups.push({ name, grants, ...(moreGrants === true && { moreGrants }) });
  }
  return groups.length === 0 ? {} : { allowedGroups: groups };
}

/** Yields the groups in bindings that are allowed an action. */
async function* groupsThatCan(
  action: Parameters<AccessInsight["whoCan"]>[0],
  insight: AccessInsight,
): AsyncGenerator<AllowedSubject> {
  let after: ShownSubject | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { subjects, more } = await insight.whoCan(action, { limit: pageLimit, after });
    for (const subject of subjects) {
      // Subjects are sorted by kind: Group, ServiceAccount, User.
      if (subject.kind !== "Group") return;
      yield subject;
    }
    if (!more) return;
    after = subjects.at(-1);
  }
}

function isOrdinaryUserWithoutGroups({ name, groups }: UserInfo, vocabulary: Vocabulary): boolean {
  if (name === "" || name.startsWith(vocabulary.systemPrefix)) return false;
  const added = addedGroups(name, vocabulary);
  return groups.every((group) => added.includes(group));
}

function canJoin(group: string, { systemPrefix }: Vocabulary): boolean {
  const accounts = `${systemPrefix}serviceaccounts`;
  const closed = [accounts, `${systemPrefix}unauthenticated`, `${systemPrefix}masters`];
  return !closed.includes(group) && !group.startsWith(`${accounts}:`);
}
