import { rowsIn } from "../../../base/release-rows.ts";
import type { Release } from "../../../base/releases.ts";
import type { Rule } from "../policy.ts";
import {
  allow,
  type ChangeDeclarations,
  type Declarations,
  type PolicyNames,
  type RoleScope,
} from "./declare.ts";
import { roleChanges } from "./role-changes.ts";

/** What decides which rules the default roles have. */
export interface RoleOptions {
  readonly release: Release;
  readonly enabled: (gate: string) => boolean;
}

/** Returns how a release after the reference release changes the declarations of the reference release. */
export function changesOfRelease(options: RoleOptions): ChangeDeclarations {
  return (declarations, scope, names) => declarationsOfRelease(declarations, scope, names, options);
}

/** Returns the declarations of the reference release with the changes of later releases. */
export function declarationsOfRelease(
  { roles, bindings }: Declarations,
  scope: RoleScope,
  names: PolicyNames,
  options: RoleOptions,
): Declarations {
  const rules = new Map(roles.map((role) => [role.name, [...role.rules]]));
  const subjects = new Map(bindings.map((binding) => [binding.name, [...binding.subjects]]));
  for (const change of rowsIn(roleChanges(names)[scope], options)) {
    const own = (rules.get(change.role) ?? []).flatMap((rule) => withoutRules(rule, change.removed ?? []));
    rules.set(change.role, [...own, ...(change.added ?? [])]);
    if (change.subjects === undefined) continue;
    subjects.set(change.role, [...(subjects.get(change.role) ?? []), ...change.subjects]);
  }
  const declared = new Map(roles.map((role) => [role.name, role]));
  const bound = new Map(bindings.map((binding) => [binding.name, binding]));
  return {
    roles: [...rules].map(([name, own]) => ({ ...declared.get(name), name, rules: own })),
    bindings: [...subjects].map(([name, own]) => ({
      role: name,
      ...bound.get(name),
      name,
      subjects: own,
    })),
  };
}

/** Returns the rules that grant what `rule` grants, without what `removed` grants. */
function withoutRules(rule: Rule, removed: readonly Rule[]): Rule[] {
  return removed.reduce<Rule[]>((rules, one) => rules.flatMap((rest) => withoutRule(rest, one)), [rule]);
}

function withoutRule(rule: Rule, removed: Rule): Rule[] {
  const groups = rule.apiGroups.filter((group) => removed.apiGroups.includes(group));
  const resources = rule.resources.filter((resource) => removed.resources.includes(resource));
  const sameNames = rule.resourceNames.join(" ") === removed.resourceNames.join(" ");
  if (groups.length === 0 || resources.length === 0 || !sameNames) return [rule];
  const { verbs, apiGroups, resourceNames } = rule;
  const part = (
    partVerbs: readonly string[],
    partGroups: readonly string[],
    partResources: readonly string[],
  ) =>
    partVerbs.length === 0 || partGroups.length === 0 || partResources.length === 0
      ? []
      : [allow(partVerbs.join(" "), partGroups, partResources.join(" "), resourceNames)];
  const without = (all: readonly string[], some: readonly string[]) =>
    all.filter((one) => !some.includes(one));
  return [
    ...part(verbs, without(apiGroups, groups), rule.resources),
    ...part(verbs, groups, without(rule.resources, resources)),
    ...part(without(verbs, removed.verbs), groups, resources),
  ];
}
