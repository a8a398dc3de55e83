import type { BindingReference, RoleReference, ShownRule, ShownSubject } from "./insight.ts";

/** `RoleBinding web/developers`. */
export function named({ kind, namespace, name }: BindingReference | RoleReference | ShownSubject): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

/** Formats a rule as one line. */
export function ruleText(rule: ShownRule): string {
  const {
    verbs,
    apiGroups = [],
    resources = [],
    resourceNames = [],
    nonResourceURLs = [],
    entriesLeftOut = 0,
  } = rule;
  const groups = apiGroups.map((group) => (group === "" ? '""' : group));
  const parts = [
    ["verbs", verbs],
    ["groups", groups],
    ["resources", resources],
    ["names", resourceNames],
    ["paths", nonResourceURLs],
  ] as const;
  const shown = parts
    .filter(([, list]) => list.length > 0)
    .map(([what, list]) => `${what} ${list.join(", ")}`);
  const more = entriesLeftOut > 0 ? [`${entriesLeftOut} more entries`] : [];
  return [...shown, ...more].join("; ");
}
