import type { BindingRecord } from "../rbac/role-record.ts";
import type { BoundSubject } from "../rbac/bound-subject.ts";
import { listHas } from "../rbac/long-lists.ts";
import type { Rule } from "../rbac/policy.ts";
import type { RoleRecord } from "../rbac/role-record.ts";
import type { RuleQuery } from "../rbac/rule-match.ts";
import type { BindingReference, RoleReference, ShownRule, ShownSubject } from "./insight.ts";

/** So many entries of one list are shown. */
const shownEntries = 20;

/** A binding as answers name it. */
export function shownBinding({ namespace, name }: BindingRecord): BindingReference {
  return namespace === "" ? { kind: "ClusterRoleBinding", name } : { kind: "RoleBinding", namespace, name };
}

/** A role as answers name it. */
export function shownRole({ kind, namespace, name }: RoleRecord): RoleReference {
  return namespace === "" ? { kind, name } : { kind, namespace, name };
}

/** A subject as answers name it. */
export function shownSubject({
  kind,
  namespace,
  name,
}: Pick<BoundSubject, "kind" | "name" | "namespace">): ShownSubject {
  return namespace === "" ? { kind, name } : { kind, namespace, name };
}

/** The first entries of a list, those that the question is about before the others. */
export function firstEntries(list: readonly string[], asked: readonly string[]): readonly string[] {
  if (list.length <= shownEntries) return list;
  const first = asked.filter((entry) => listHas(list, entry));
  return [...new Set([...first, ...list.slice(0, shownEntries)])].slice(0, shownEntries);
}

/** A rule as answers show it: without empty lists, long ones cut. */
export function shownRule(rule: Rule, query: RuleQuery): ShownRule {
  let entriesLeftOut = 0;
  const cut = (list: readonly string[], ...asked: string[]): readonly string[] => {
    const first = firstEntries(list, asked);
    entriesLeftOut += list.length - first.length;
    return first;
  };
  const verbs = cut(rule.verbs, query.verb, "*");
  const lists = {
    apiGroups: cut(rule.apiGroups, query.group, "*"),
    resources: cut(rule.resources, query.resource, query.subresourceOfAll, "*"),
    resourceNames: cut(rule.resourceNames, query.name),
    nonResourceURLs: cut(rule.nonResourceURLs, query.path, "*"),
  };
  const given = Object.entries(lists).filter(([, list]) => list.length > 0);
  return { verbs, ...Object.fromEntries(given), ...(entriesLeftOut > 0 ? { entriesLeftOut } : {}) };
}
