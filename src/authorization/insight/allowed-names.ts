import type { YieldIfDue } from "../../base/turns/yielding.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Rule } from "../rbac/policy.ts";
import type { RbacIndex } from "../rbac/rbac-index.ts";
import { ruleQuery, verbAndResourceMatch } from "../rbac/rule-match.ts";
import { rulesPerStep } from "../rbac/rule-finder.ts";
import type { AllowedNames, NamesOf } from "./insight.ts";

/** Maximum number of names in a response. */
const maxNames = 20;

/**
 * Collects the rules with resource names that apply to a user in a namespace (empty: in the whole cluster).
 *
 * @returns a function that lists the names for which these rules allow an action.
 */
export async function allowedNames(
  index: RbacIndex,
  user: UserInfo,
  namespace: string,
  yieldIfDue: YieldIfDue,
): Promise<NamesOf> {
  const rules = new Set<Rule>();
  let steps = 0;
  for (const scopes of index.scopesOf(user)) {
    for (const scope of namespace === "" ? [""] : ["", namespace]) {
      for (const role of scopes.get(scope)?.roles() ?? []) {
        for (const rule of role.rules ?? []) {
          if (rule.resourceNames.length > 0) rules.add(rule);
          if (++steps % rulesPerStep === 0) await yieldIfDue();
        }
      }
    }
  }
  return async (attributes) => {
    const query = ruleQuery(attributes);
    const names = new Set<string>();
    for (const rule of rules) {
      if (++steps % rulesPerStep === 0) await yieldIfDue();
      if (!verbAndResourceMatch(rule, query)) continue;
      for (const name of rule.resourceNames) {
        names.add(name);
        if (names.size > maxNames) return firstNames(names);
      }
    }
    return firstNames(names);
  };
}

function firstNames(names: ReadonlySet<string>): AllowedNames {
  const first = [...names].slice(0, maxNames).toSorted();
  return { names: first, more: names.size > maxNames };
}
