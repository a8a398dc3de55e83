import type { YieldIfDue } from "../base/turns/yielding.ts";
import type { AccessPart, AccessScopes } from "./access-scopes.ts";

/** Number of names that are compared between two calls of `yieldIfDue`. */
const namesPerStep = 256;

/** The scopes to compare. */
interface Comparison {
  readonly scopes: AccessScopes;
  /** Scopes of the same user and resource type, for instance of an earlier time. */
  readonly other: AccessScopes;
  /** Maximum number of parts. */
  readonly limit: number;
  readonly yieldIfDue: YieldIfDue;
}

/**
 * Returns disjoint parts of all namespaces that together have every object that is allowed by scopes and not by others.
 *
 * @returns undefined if there are more parts than the limit, or if they can't be enumerated.
 */
export async function partsBeyond(comparison: Comparison): Promise<readonly AccessPart[] | undefined> {
  const { scopes, other, limit, yieldIfDue } = comparison;
  if (other.everything) return [];
  if (scopes.everything) return undefined;
  const parts: AccessPart[] = [];
  let steps = 0;
  for (const names of scopes.namesEverywhere()) {
    for (const name of names) {
      if (++steps % namesPerStep === 0) await yieldIfDue();
      if (!other.namesEverywhere().some((others) => others.has(name))) return undefined;
    }
  }
  for (const namespace of scopes.namespaces()) {
    if (++steps % namesPerStep === 0) await yieldIfDue();
    if (other.allowsWhole(namespace)) continue;
    if (scopes.allowsWhole(namespace)) parts.push({ namespace, name: undefined });
    else if (!(await addNames(parts, namespace, scopes.namesIn(namespace), comparison))) return undefined;
    if (parts.length > limit) return undefined;
  }
  return parts;
}

/**
 * As {@link partsBeyond}, for the objects of one namespace (empty for cluster-scoped objects).
 *
 * @returns undefined also if the whole namespace is allowed.
 */
export async function partsBeyondIn(
  namespace: string,
  comparison: Comparison,
): Promise<readonly AccessPart[] | undefined> {
  const { scopes, other } = comparison;
  if (other.allowsWhole(namespace)) return [];
  if (scopes.allowsWhole(namespace)) return undefined;
  const parts: AccessPart[] = [];
  const sets = [...scopes.namesEverywhere(), ...scopes.namesIn(namespace)];
  return (await addNames(parts, namespace, sets, comparison)) ? parts : undefined;
}

/** Adds a part for each name that the other scopes don't allow; returns false if there are more parts than the limit. */
async function addNames(
  parts: AccessPart[],
  namespace: string,
  sets: readonly ReadonlySet<string>[],
  { other, limit, yieldIfDue }: Comparison,
): Promise<boolean> {
  const added = new Set<string>();
  let steps = 0;
  for (const names of sets) {
    for (const name of names) {
      if (++steps % namesPerStep === 0) await yieldIfDue();
      if (added.has(name) || other.allows(namespace, name)) continue;
      if (parts.length >= limit) return false;
      added.add(name);
      parts.push({ namespace, name });
    }
  }
  return true;
}
