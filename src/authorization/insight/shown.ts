import type { BindingRecord } from "../rbac/role-record.ts";
import type { BoundSubject } from "../rbac/bound-subject.ts";
import { listIncludes } from "../rbac/long-lists.ts";
import type { Rule } from "../rbac/policy.ts";
import type { RoleRecord } from "../rbac/role-record.ts";
import type { RuleQuery } from "../rbac/rule-match.ts";
import type { BindingReference, RoleReference, ShownRule, ShownSubject } from "./insight.ts";

/** Maximum number of entries of a list in a response. */
const maxEntries = 20;

/** Returns the reference to a binding for a response. */
export function shownBinding({ namespace, name }: BindingRecord): BindingReference {
  return namespace === "" ? { kind: "ClusterRoleBinding", name } : { kind: "RoleBinding", namespace, name };
}

/** Returns the reference to a role for a response. */
export function shownRole({ kind, namespace, name }: RoleRecord): RoleReference {
  return namespace === "" ? { kind, name } : { kind, namespace, name };
}

/** Returns a subject for a response. */
export function shownSubject({
  kind,
  namespace,
  name,
}: Pick<BoundSubject, "kind" | "name" | "namespace">): ShownSubject {
  return namespace === "" ? { kind, name } : { kind, namespace, name };
}

/** Returns the first entries of a list; entries of `relevant` come first. */
export function firstEntries(list: readonly string[], relevant: readonly string[]): readonly string[] {
  if (list.length <= maxEntries) return list;
  const relevantEntries = relevant.filter((entry) => listIncludes(list, entry));
  return [...new Set([...relevantEntries, ...list.slice(0, maxEntries)])].slice(0, maxEntries);
}

/** Returns a rule for a response: without empty lists, with long ones truncated. */
export function shownRule(rule: Rule, query: RuleQuery): ShownRule {
  let entriesLeftOut = 0;
  const truncate = (list: readonly string[], ...relevant: string[]): readonly string[] => {
    const first = firstEntries(list, relevant);
    entriesLeftOut += list.length - first.length;
    return first;
  };
  const verbs = truncate(rule.verbs, query.verb, "*");
  const lists = {
    apiGroups: truncate(rule.apiGroups, query.group, "*"),
    resources: truncate(rule.resources, query.resource, query.subresourceOfAll, "*"),
    resourceNames: truncate(rule.resourceNames, query.name),
    nonResourceURLs: truncate(rule.nonResourceURLs, query.path, "*"),
  };
  const nonEmpty = Object.entries(lists).filter(([, list]) => list.length > 0);
  return { verbs, ...Object.fromEntries(nonEmpty), ...(entriesLeftOut > 0 ? { entriesLeftOut } : {}) };
}
