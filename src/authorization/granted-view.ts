import { createHash } from "node:crypto";
import type { YieldIfDue } from "../base/turns/yielding.ts";
import type { EnumeratedView, ViewPart } from "../resources/objects/object-view.ts";
import type { Resource } from "../resources/registry/registry.ts";
import type { Revision } from "../storage/store.ts";
import { AccessScopes, type AccessPart } from "./access-scopes.ts";
import type { ResourceAttributes } from "./authorizer.ts";

/** The objects of a collection that authorizers grant to a user. */
export class GrantedView implements EnumeratedView {
  readonly everything: boolean;
  private readonly isNamespaceItself: boolean;

  /**
   * @param granted the objects that each authorizer grants.
   * @param get attributes of a `get` without its name; the namespace is that of the collection.
   * @param revision at which they are granted; undefined if that never changes, or if its caller knows it.
   */
  constructor(
    private readonly granted: readonly AccessScopes[],
    private readonly get: ResourceAttributes,
    private readonly resource: Resource,
    readonly revision?: Revision,
  ) {
    this.isNamespaceItself = isNamespaceItself(resource);
    this.everything = granted.some((scopes) =>
      this.isNamespaceItself ? scopes.everything : scopes.allowsWhole(get.namespace),
    );
  }

  /** Only lists need it, so it is not computed for each change of a watched view. */
  get id(): string {
    return createHash("sha256").update(this.get.user.name).digest("base64url").slice(0, 16);
  }

  parts(limit: number): readonly ViewPart[] | undefined {
    // Parts of several authorizers could overlap.
    if (this.everything || this.granted.length > 1) return undefined;
    const [scopes] = this.granted;
    return scopes === undefined ? [] : this.visibleParts(scopes, limit);
  }

  allows(namespace: string, name: string): boolean {
    const scope = this.scopeOf(namespace, name);
    for (const scopes of this.granted) if (scopes.allows(scope, name)) return true;
    return false;
  }

  /** The namespace in the attributes of a `get` of an object. */
  scopeOf(namespace: string, name: string): string {
    return this.isNamespaceItself ? name : namespace;
  }

  async partsBeyond(
    other: GrantedView,
    limit: number,
    yieldIfDue: YieldIfDue,
  ): Promise<readonly ViewPart[] | undefined> {
    const differing = this.granted.filter((scopes) => !other.granted.includes(scopes));
    if (differing.length === 0) return [];
    const others = other.granted.filter((scopes) => !this.granted.includes(scopes));
    if (differing.length > 1 || others.length > 1) return undefined;
    const comparison = {
      scopes: differing[0]!,
      other: others[0] ?? new AccessScopes(),
      limit,
      yieldIfDue,
    };
    if (this.isNamespaceItself) return namespacesBeyond(comparison);
    const { namespace } = this.get;
    const all = this.resource.namespaced && namespace === "";
    const parts = all ? await partsBeyond(comparison) : await partsBeyondIn(namespace, comparison);
    return parts?.filter((part) => this.canExist(part));
  }

  /** Returns the parts of a collection that have visible objects; undefined if they can't be enumerated or are too many. */
  private visibleParts(scopes: AccessScopes, limit: number): readonly ViewPart[] | undefined {
    if (this.isNamespaceItself) return visibleNamespaces(scopes, limit);
    const { namespace } = this.get;
    const parts =
      this.resource.namespaced && namespace === "" ? scopes.parts(limit) : scopes.partsIn(namespace, limit);
    return parts?.filter((part) => this.canExist(part));
  }

  private canExist(part: ViewPart): boolean {
    return isKey(part) && (part.namespace !== "") === this.resource.namespaced;
  }
}

/** Whether a `get` of an object has its name as namespace too, as for namespaces. */
function isNamespaceItself({ namespaced, name }: Resource): boolean {
  return !namespaced && name === "namespaces";
}

/** Returns the visible namespaces: those with a grant for all names or their own, and those with a grant in the whole cluster. */
function visibleNamespaces(scopes: AccessScopes, limit: number): readonly ViewPart[] | undefined {
  const clusterWide = scopes.partsIn("", limit);
  if (clusterWide === undefined) return undefined;
  const names = new Set(clusterWide.map(({ name }) => name));
  for (const namespace of scopes.namespaces()) {
    if (scopes.allows(namespace, namespace)) names.add(namespace);
  }
  if (names.size > limit) return undefined;
  return [...names].map((name) => ({ namespace: "", name })).filter(isKey);
}

/** Returns the namespaces that are visible with scopes and not with others. */
async function namespacesBeyond(
  comparison: Parameters<typeof partsBeyondIn>[1],
): Promise<readonly ViewPart[] | undefined> {
  const { scopes, other, limit, yieldIfDue } = comparison;
  const clusterWide = await partsBeyondIn("", comparison);
  if (clusterWide === undefined) return undefined;
  const names = new Set(clusterWide.map(({ name }) => name));
  let steps = 0;
  for (const namespace of scopes.namespaces()) {
    if (++steps % 256 === 0) await yieldIfDue();
    if (scopes.allows(namespace, namespace) && !other.allows(namespace, namespace)) names.add(namespace);
  }
  if (names.size > limit) return undefined;
  return [...names].map((name) => ({ namespace: "", name })).filter(isKey);
}

/** Whether objects of a part can exist: its names are segments of a key. Rules can have any text as names. */
function isKey({ namespace, name }: ViewPart): boolean {
  return !namespace.includes("/") && (name === undefined || (name !== "" && !name.includes("/")));
}

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
async function partsBeyond(comparison: Comparison): Promise<readonly AccessPart[] | undefined> {
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
async function partsBeyondIn(
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
