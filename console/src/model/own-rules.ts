/** A rule of a SelfSubjectRulesReview. */
export interface OwnRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** What a user may do with a resource type. */
export interface OwnRight {
  readonly group: string;
  /** The plural name, with a subresource after a slash; `*` for all. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** The objects that the verbs are for; empty for all. */
  readonly names: readonly string[];
}

/** Rules are joined by resource up to this number of rights. */
const maxRights = 2000;

/** Joins rules by resource: the verbs for all objects, and those for some names. */
export function ownRights(rules: readonly OwnRule[]): OwnRight[] {
  const byKey = new Map<
    string,
    { group: string; resource: string; verbs: Set<string>; names: readonly string[] }
  >();
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } of rules) {
    for (const group of apiGroups) {
      for (const resource of resources) {
        const key = JSON.stringify([group, resource, resourceNames]);
        const right = byKey.get(key) ?? { group, resource, verbs: new Set<string>(), names: resourceNames };
        for (const verb of verbs) right.verbs.add(verb);
        if (byKey.size < maxRights) byKey.set(key, right);
      }
    }
  }
  return [...byKey.values()]
    .map((right) => ({ ...right, verbs: [...right.verbs] }))
    .toSorted((one, other) => {
      const [a, b] = [`${one.group}/${one.resource}`, `${other.group}/${other.resource}`];
      return a < b ? -1 : a > b ? 1 : one.names.length - other.names.length;
    });
}
