import type { GiveTurn } from "../../base/turns.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Rule } from "../rbac/policy.ts";
import type { RbacIndex } from "../rbac/rbac-index.ts";
import { ruleQuery, verbAndResourceMatch } from "../rbac/rule-match.ts";
import { rulesAStep } from "../rbac/rule-finder.ts";
import type { AllowedNames, NamesOf } from "./insight.ts";

/** How many names one answer shows. */
const maxNames = 20;

/**
 * Collects the rules limited to names that a user and their groups hold in a namespace (empty: in the whole cluster).
 *
 * @returns what these rules allow to do with which names.
 */
export async function allowedNames(
  index: RbacIndex,
  user: UserInfo,
  namespace: string,
  giveTurn: GiveTurn,
): Promise<NamesOf> {
  const rules = new Set<Rule>();
  let steps = 0;
  for (const scopes of index.scopesOf(user)) {
    for (const place of namespace === "" ? [""] : ["", namespace]) {
      for (const role of scopes.get(place)?.roles() ?? []) {
        for (const rule of role.rules ?? []) {
          if (rule.resourceNames.length > 0) rules.add(rule);
          if (++steps % rulesAStep === 0) await giveTurn();
        }
      }
    }
  }
  return async (attributes) => {
    const query = ruleQuery(attributes);
    const names = new Set<string>();
    for (const rule of rules) {
      if (++steps % rulesAStep === 0) await giveTurn();
      if (!verbAndResourceMatch(rule, query)) continue;
      for (const name of rule.resourceNames) {
        names.add(name);
        if (names.size > maxNames) return shownNames(names);
      }
    }
    return shownNames(names);
  };
}

function shownNames(names: ReadonlySet<string>): AllowedNames {
  const shown = [...names].slice(0, maxNames).toSorted();
  return { names: shown, more: names.size > maxNames };
}
