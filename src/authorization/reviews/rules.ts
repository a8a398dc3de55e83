import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { NonResourceRule, ResourceRule, RuleList, RuleResolver } from "../authorizer.ts";

/** A rule about resources, without its empty lists. */
export interface ListedResourceRule {
  verbs: readonly string[];
  apiGroups?: readonly string[];
  resources?: readonly string[];
  resourceNames?: readonly string[];
}

/** A rule about URL paths, without an empty list of paths. */
export interface ListedNonResourceRule {
  verbs: readonly string[];
  nonResourceURLs?: readonly string[];
}

/** Status of a SelfSubjectRulesReview (spec: access review 2.2). */
export interface RulesStatus {
  resourceRules: ListedResourceRule[];
  nonResourceRules: ListedNonResourceRule[];
  incomplete: boolean;
  evaluationError?: string;
}

/** Returns the status of a SelfSubjectRulesReview: the rules that apply to `user` in the namespace. */
export function reviewRules(
  user: UserInfo,
  namespace: string,
  resolver: RuleResolver,
): MaybePromise<RulesStatus> {
  return andThen(resolver.rulesFor(user, namespace), rulesStatus);
}

function rulesStatus({
  resourceRules,
  nonResourceRules,
  incomplete,
  evaluationError,
}: RuleList): RulesStatus {
  const status: RulesStatus = {
    resourceRules: resourceRules.map(listedResourceRule),
    nonResourceRules: nonResourceRules.map(listedNonResourceRule),
    incomplete,
  };
  if (evaluationError !== "") status.evaluationError = evaluationError;
  return status;
}

function listedResourceRule({
  verbs,
  apiGroups,
  resources,
  resourceNames,
}: ResourceRule): ListedResourceRule {
  const listed: ListedResourceRule = { verbs };
  if (apiGroups.length > 0) listed.apiGroups = apiGroups;
  if (resources.length > 0) listed.resources = resources;
  if (resourceNames.length > 0) listed.resourceNames = resourceNames;
  return listed;
}

function listedNonResourceRule({ verbs, nonResourceURLs }: NonResourceRule): ListedNonResourceRule {
  return nonResourceURLs.length > 0 ? { verbs, nonResourceURLs } : { verbs };
}
