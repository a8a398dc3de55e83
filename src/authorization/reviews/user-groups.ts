import type { UserInfo } from "../../base/user-info.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Attributes } from "../authorizer.ts";
import type { AuthorizerChain } from "../authorizer-chain.ts";
import type { AccessInsight, AllowedSubject, ShownSubject } from "../insight/insight.ts";

/** A group whose members are allowed what a user isn't. */
export interface AllowedGroup {
  readonly name: string;
  readonly grants: AllowedSubject["grants"];
  readonly moreGrants?: boolean;
}

/** How many groups one answer shows. */
const maxGroups = 10;
/** Subjects are asked for in pages, of which no more than so many are looked at. */
const pageLimit = 100;
const maxPages = 10;

/** Groups that an authenticator adds to a user. */
function addedGroups(name: string, { systemPrefix }: Vocabulary): readonly string[] {
  const accounts = `${systemPrefix}serviceaccount:`;
  if (name === "" || name === `${systemPrefix}anonymous`) return [];
  const own = name.startsWith(accounts)
    ? [
        `${systemPrefix}serviceaccounts`,
        `${systemPrefix}serviceaccounts:${name.slice(accounts.length).split(":", 1)[0]}`,
      ]
    : [];
  return [...own, `${systemPrefix}authenticated`];
}

/** Groups that an authenticator would add to a user, which the question doesn't name. */
export function absentGroups({ name, groups }: UserInfo, vocabulary: Vocabulary): readonly string[] {
  return addedGroups(name, vocabulary).filter((group) => !groups.includes(group));
}

/**
 * The groups whose members are allowed what is asked, for a question that names a person and none of their groups. Groups that nobody
 * can join are left out: those that only service accounts or strangers are in, and the administrators', who are allowed everything.
 */
export async function allowedGroups(
  attributes: Attributes,
  chain: AuthorizerChain,
  vocabulary: Vocabulary,
): Promise<{ readonly allowedGroups?: readonly AllowedGroup[]; readonly moreAllowedGroups?: boolean }> {
  const { user, ...action } = attributes;
  const insight = chain.links.find((link) => link.insight !== undefined)?.insight;
  if (insight === undefined || !isPersonWithoutGroups(user, vocabulary)) return {};
  const groups: AllowedGroup[] = [];
  for await (const { name, grants, moreGrants } of groupsThatCan(action, insight)) {
    if (!canJoin(name, vocabulary)) continue;
    if (groups.length === maxGroups) return { allowedGroups: groups, moreAllowedGroups: true };
    groups.push({ name, grants, ...(moreGrants === true && { moreGrants }) });
  }
  return groups.length === 0 ? {} : { allowedGroups: groups };
}

/** The groups that bindings name and that are allowed an action. */
async function* groupsThatCan(
  action: Parameters<AccessInsight["whoCan"]>[0],
  insight: AccessInsight,
): AsyncGenerator<AllowedSubject> {
  let after: ShownSubject | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { subjects, more } = await insight.whoCan(action, { limit: pageLimit, after });
    for (const subject of subjects) {
      // Groups come before service accounts and users.
      if (subject.kind !== "Group") return;
      yield subject;
    }
    if (!more) return;
    after = subjects.at(-1);
  }
}

function isPersonWithoutGroups({ name, groups }: UserInfo, vocabulary: Vocabulary): boolean {
  if (name === "" || name.startsWith(vocabulary.systemPrefix)) return false;
  const added = addedGroups(name, vocabulary);
  return groups.every((group) => added.includes(group));
}

function canJoin(group: string, { systemPrefix }: Vocabulary): boolean {
  const accounts = `${systemPrefix}serviceaccounts`;
  const closed = [accounts, `${systemPrefix}unauthenticated`, `${systemPrefix}masters`];
  return !closed.includes(group) && !group.startsWith(`${accounts}:`);
}
