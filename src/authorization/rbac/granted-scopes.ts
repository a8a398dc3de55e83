import type { YieldIfDue } from "../../base/turns/yielding.ts";
import { AccessScopes } from "../access-scopes.ts";
import type { ScopeAttributes } from "../authorizer.ts";
import type { RbacIndex } from "./rbac-index.ts";
import type { RoleRecord } from "./role-record.ts";
import { rulesPerStep } from "./rule-finder.ts";
import { ruleQuery, verbAndResourceMatch, type RuleQuery } from "./rule-match.ts";

/** Returns a text that is equal for attributes for which RBAC grants the same objects. */
export function scopeKey(attributes: ScopeAttributes): string {
  const { user, verb, namedVerb, group, resource, subresource, namespace } = attributes;
  return JSON.stringify([user.name, user.groups, verb, namedVerb, group, resource, subresource, namespace]);
}

/** The names for which a role allows a request: a set, undefined for every name. */
interface AllowedNames {
  readonly names: ReadonlySet<string> | undefined;
}

/**
 * Returns the objects that RBAC grants to a user: everything, whole namespaces, and names in one or in every namespace. Each role is
 * matched once, so the time is proportional to the user's grants and the rules of their roles, not to the number of objects, users or
 * bindings. Grants that change during the call may be included or not.
 *
 * @param attributes verbs and resource type; with a namespace only grants in the cluster and in this namespace are read.
 * @param consulted receives the roles on which the result depends; a change of another role can't change it.
 */
export async function grantedScopes(
  index: RbacIndex,
  attributes: ScopeAttributes,
  yieldIfDue: YieldIfDue,
  consulted?: Set<RoleRecord>,
): Promise<AccessScopes> {
  const scopes = new AccessScopes();
  const query = ruleQuery(attributes);
  const { namedVerb } = attributes;
  const named = namedVerb === undefined ? undefined : ruleQuery({ ...attributes, verb: namedVerb });
  const matches = new Map<RoleRecord, AllowedNames | undefined>();
  let steps = 0;
  const add = async (namespace: string, roles: Iterable<RoleRecord>): Promise<void> => {
    for (const role of roles) {
      let match = matches.get(role);
      if (match === undefined && !matches.has(role)) {
        match = await namesIn(role, { query, named }, yieldIfDue);
        matches.set(role, match);
        consulted?.add(role);
      }
      if (match !== undefined && namespace === "") scopes.allowEverywhere(match.names);
      else if (match !== undefined) scopes.allowIn(namespace, match.names);
      if (++steps % rulesPerStep === 0) await yieldIfDue();
    }
  };
  const subjects = index.scopesOf(attributes.user);
  for (const subject of subjects) await add("", subject.get("")?.roles() ?? []);
  if (scopes.everything) return scopes;
  for (const subject of subjects) {
    if (attributes.namespace !== "") {
      await add(attributes.namespace, subject.get(attributes.namespace)?.roles() ?? []);
      continue;
    }
    for (const [namespace, scope] of subject.entries()) {
      if (namespace !== "") await add(namespace, scope.roles());
    }
  }
  return scopes;
}

/** Returns the names that the rules of a role allow; undefined if none of its rules matches the request. */
async function namesIn(
  role: RoleRecord,
  { query, named }: { readonly query: RuleQuery; readonly named: RuleQuery | undefined },
  yieldIfDue: YieldIfDue,
): Promise<AllowedNames | undefined> {
  let names: Set<string> | undefined;
  let steps = 0;
  for (const rule of role.rules ?? []) {
    if (++steps % rulesPerStep === 0) await yieldIfDue();
    const matches = verbAndResourceMatch(rule, query);
    if (matches && rule.resourceNames.length === 0) return { names: undefined };
    if (!matches && (named === undefined || !verbAndResourceMatch(rule, named))) continue;
    names ??= new Set();
    for (const name of rule.resourceNames) names.add(name);
  }
  return names === undefined ? undefined : { names };
}
