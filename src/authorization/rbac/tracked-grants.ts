import { objectAs } from "../../schema/api-object.ts";
import type { YieldIfDue } from "../../base/turns/yielding.ts";
import { decodedEntry } from "../../resources/followers/informer.ts";
import { namesOf } from "../../resources/registry/registry.ts";
import type { Entry, StoreEvent } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AccessScopes } from "../access-scopes.ts";
import type { ScopeAttributes } from "../authorizer.ts";
import { keyOfSubject, readSubjects, type BoundSubject } from "./bound-subject.ts";
import { collectionOf, putGrant, removeGrant } from "./grant-entries.ts";
import type { LoggedChange } from "./grant-log.ts";
import { grantedScopes } from "./granted-scopes.ts";
import type { BindingObject } from "./policy.ts";
import { RbacIndex } from "./rbac-index.ts";
import type { RoleRecord } from "./role-record.ts";

/** A user, a verb and a resource type whose granted objects are tracked. */
export interface TrackedScopes {
  /** The namespace limits the grants that matter; empty for all. */
  readonly attributes: ScopeAttributes;
  /** The roles on which the granted objects depend; set by {@link TrackedGrants.scopesOf}. */
  roles: ReadonlySet<RoleRecord>;
}

/** An index of roles and bindings that names the tracked scopes that a change affects. */
export class TrackedGrants<T extends TrackedScopes> {
  private readonly index: RbacIndex;
  /** By the keys of {@link subjectText}. */
  private readonly bySubject = new Map<string, Set<T>>();
  private readonly byRole = new Map<RoleRecord, Set<T>>();

  /** @param failed receives the error for an entry that can't be decoded; it grants nothing. */
  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly failed: (error: unknown) => void,
  ) {
    this.index = new RbacIndex(vocabulary);
  }

  track(one: T): void {
    for (const subject of subjectsOf(one)) addTo(this.bySubject, subject, one);
  }

  untrack(one: T): void {
    for (const subject of subjectsOf(one)) removeFrom(this.bySubject, subject, one);
    this.setRoles(one, new Set());
  }

  /** Computes the granted objects of one user, who must be tracked. The index must not be changed meanwhile. */
  async scopesOf(one: T, yieldIfDue: YieldIfDue): Promise<AccessScopes> {
    const roles = new Set<RoleRecord>();
    const scopes = await grantedScopes(this.index, one.attributes, yieldIfDue, roles);
    if (this.isTracked(one)) this.setRoles(one, roles);
    return scopes;
  }

  /** Computes the granted objects of a user who isn't tracked. The index must not be changed meanwhile. */
  scopesFor(attributes: ScopeAttributes, yieldIfDue: YieldIfDue): Promise<AccessScopes> {
    return grantedScopes(this.index, attributes, yieldIfDue);
  }

  isTracked(one: T): boolean {
    return this.bySubject.get(`u/${one.attributes.user.name}`)?.has(one) === true;
  }

  put(entry: Entry, lasting = false): void {
    try {
      putGrant(this.index, entry, lasting);
    } catch (error) {
      removeGrant(this.index, entry.key);
      this.failed(error);
    }
  }

  /** Applies the change of a role or binding; returns the tracked scopes that it may affect, and the change for a log. */
  apply(event: StoreEvent): { readonly affected: ReadonlySet<T>; readonly change: LoggedChange } {
    const { key, revision, entry } = event;
    const { namespace, name } = namesOf(key);
    const write = (): void => (entry === undefined ? removeGrant(this.index, key) : this.put(entry));
    const collection = collectionOf(key);
    if (collection === "roles" || collection === "clusterroles") {
      const record = this.index.findRole(collection === "roles" ? "Role" : "ClusterRole", namespace, name);
      write();
      const affected = (record && this.byRole.get(record)) ?? new Set<T>();
      return {
        affected: new Set(affected),
        change: { revision, namespace, role: roleText(namespace, name) },
      };
    }
    const before = this.index.findBinding(namespace, name)?.subjects ?? [];
    write();
    const after = this.index.findBinding(namespace, name)?.subjects ?? [];
    const subjects = subjectTexts([...before, ...after], this.vocabulary);
    const affected = new Set<T>();
    for (const subject of subjects) {
      for (const one of this.bySubject.get(subject) ?? []) {
        if (concerns(one, namespace)) affected.add(one);
      }
    }
    return { affected, change: { revision, namespace, subjects } };
  }

  private setRoles(one: T, roles: ReadonlySet<RoleRecord>): void {
    for (const role of one.roles) if (!roles.has(role)) removeFrom(this.byRole, role, one);
    for (const role of roles) if (!one.roles.has(role)) addTo(this.byRole, role, one);
    one.roles = roles;
  }
}

/** Returns a change of the history, from the values before and after it. */
export function loggedChange(
  { key, revision, entry, previous }: StoreEvent,
  vocabulary: Vocabulary,
): LoggedChange {
  const { namespace, name } = namesOf(key);
  const collection = collectionOf(key);
  if (collection === "roles" || collection === "clusterroles") {
    return { revision, namespace, role: roleText(namespace, name) };
  }
  const subjects = [entry, previous].flatMap((one) => {
    if (one === undefined) return [];
    return readSubjects(objectAs<BindingObject>(decodedEntry(one, false)), namespace).subjects;
  });
  return { revision, namespace, subjects: subjectTexts(subjects, vocabulary) };
}

/** The subjects, each once; invalid ones are omitted. */
function subjectTexts(subjects: readonly BoundSubject[], { systemPrefix }: Vocabulary): readonly string[] {
  const texts = new Set<string>();
  for (const subject of subjects) {
    if (!subject.valid) continue;
    const { isGroup, name } = keyOfSubject(subject, systemPrefix);
    texts.add(`${isGroup ? "g" : "u"}/${name}`);
  }
  return [...texts];
}

/** The subjects whose bindings grant something to a user. */
export function subjectsOf({ attributes: { user } }: TrackedScopes): readonly string[] {
  return [`u/${user.name}`, ...user.groups.map((group) => `g/${group}`)];
}

/** Whether a binding in a namespace (empty: the cluster) can matter. */
export function concerns({ attributes }: TrackedScopes, namespace: string): boolean {
  return namespace === "" || attributes.namespace === "" || attributes.namespace === namespace;
}

/** The name of a role in a log; a ClusterRole has no namespace. */
export function roleText(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function addTo<K, T>(map: Map<K, Set<T>>, key: K, value: T): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, new Set([value]));
  else values.add(value);
}

function removeFrom<K, T>(map: Map<K, Set<T>>, key: K, value: T): void {
  const values = map.get(key);
  if (values?.delete(value) === true && values.size === 0) map.delete(key);
}
