import { apiVersionOf } from "../../base/object-errors.ts";
import { defaultRelease, type Release } from "../../base/releases.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { kindInVocabulary } from "../../schema/kind-in-vocabulary.ts";
import { groupName, type Kind } from "../../schema/kind.ts";
import type { WriteCondition } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { VersionedStorage } from "./versioned-storage.ts";

/** One resource type of one group version. */
export interface Resource {
  readonly kind: Kind;
  /** Full group name; empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** `apiVersion` of its objects: `v1`, `rbac.authorization.platform.io/v1`. */
  readonly apiVersion: string;
  /** Name in paths: `roles`. */
  readonly name: string;
  readonly namespaced: boolean;
  /** The resource type of the storage version; the same object unless its kind has a conversion. */
  readonly stored: Resource;
  /** Prefix of its objects in the store, ending in `/`. */
  readonly storePrefix: string;
  /** The bytes of a body before its revision (`stored.ts`). */
  readonly bodyPrefix: Buffer;
  /** @internal Undefined for built-in kinds, whose objects are stored as they are served. */
  readonly storage: VersionedStorage | undefined;
}

export interface ServedGroupVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly Resource[];
}

/** Resource types that change while a server runs: those of custom kinds. */
export interface ChangingResources {
  /** Increases with every change. */
  readonly revision: number;
  /**
   * Waits until the resource types include every change that was acknowledged before the call, by any process.
   *
   * @throws {StoreUnavailableError} the store can't be followed at present.
   */
  sync(): MaybePromise<void>;
  /** Whether a group has definitions, served or not. */
  knows(group: string): boolean;
  /** The served resource type at a path, or undefined. */
  find(group: string, version: string, name: string): Resource | undefined;
  /** The served resource type of a kind, or undefined; parses only the definitions of the group. */
  findKind(group: string, version: string, kind: string): Resource | undefined;
  /** A text that changes with the definitions of a group; equal on all servers that have the same definitions. */
  revisionOf(group: string): string;
  /** The served versions of a resource, in the order of discovery. */
  versionsOf(group: string, name: string): readonly Resource[];
  /**
   * The condition that the definition of a resource type is unchanged, for writes that depend on it; undefined if it was deleted.
   */
  definitionCondition(group: string, name: string): WriteCondition | undefined;
  /**
   * Parses the definitions that aren't parsed yet, with pauses for other requests; {@link groupVersions} and {@link stored} would parse
   * them without a pause. Returns undefined if all are parsed.
   */
  readAll(): MaybePromise<void>;
  /** The served group versions. */
  readonly groupVersions: readonly ServedGroupVersion[];
  /** Every resource type that stores objects, in the storage version. */
  readonly stored: readonly Resource[];
}

/** The served resource types: built-in ones, which never change, and those of custom kinds. */
export class Registry {
  /** By group, version and name. */
  private readonly byPath = new Map<string, Map<string, Map<string, Resource>>>();
  /** The built-in group versions. */
  readonly builtInVersions: readonly ServedGroupVersion[];
  /** By `apiVersion/kind`. */
  private readonly builtInByKind = new Map<string, Resource>();
  /** By store prefix. */
  private readonly builtInByPrefix = new Map<string, Resource[]>();
  /** `group/resource` of all declared kinds, served or not. */
  private readonly declared = new Set<string>();
  private subresourceKinds: ReadonlyMap<string, Kind> | undefined;
  private cached: CachedVersions | undefined;
  /** Set during the start of a server with custom kinds. */
  changing: ChangingResources | undefined;

  /**
   * @param kinds the declared kinds.
   * @param served whether a kind's resource is served; see `runtime-config.ts`.
   */
  constructor(
    kinds: readonly Kind[],
    readonly vocabulary: Vocabulary,
    served: (group: string, kind: Kind) => boolean,
    readonly release: Release = defaultRelease,
  ) {
    const versions = new Map<string, { group: string; version: string; resources: Resource[] }>();
    for (const kind of kinds) {
      const group = groupName(kind.group, vocabulary);
      this.declared.add(`${group}/${kind.resource}`);
      if (!served(group, kind)) continue;
      const resource = resourceOf(kind, vocabulary);
      innerMap(innerMap(this.byPath, group), kind.version).set(kind.resource, resource);
      this.builtInByKind.set(`${resource.apiVersion}/${kind.name}`, resource);
      const key = resource.apiVersion;
      const entry = versions.get(key) ?? { group, version: kind.version, resources: [] };
      entry.resources.push(resource);
      versions.set(key, entry);
    }
    this.builtInVersions = [...versions.values()];
    for (const resource of this.builtInVersions.flatMap(({ resources }) => resources)) {
      const same = this.builtInByPrefix.get(resource.storePrefix);
      if (same === undefined) this.builtInByPrefix.set(resource.storePrefix, [resource]);
      else same.push(resource);
    }
  }

  /** Returns a registry with the same built-in resource types, and no custom ones. */
  withoutCustom(): Registry {
    const copy = Object.create(Registry.prototype) as Registry;
    return Object.assign(copy, this, { changing: undefined, cached: undefined });
  }

  /** Increases with every change of the served resource types. */
  get revision(): number {
    return this.changing?.revision ?? 0;
  }

  /** See {@link ChangingResources.revisionOf}; always empty for built-in groups. */
  revisionOf(group: string): string {
    return this.isBuiltIn(group) ? "" : (this.changing?.revisionOf(group) ?? "");
  }

  /** See {@link ChangingResources.sync}. */
  sync(): MaybePromise<void> {
    return this.changing?.sync();
  }

  /** Whether there is a group of that name, as of the last {@link sync}. */
  knows(group: string): boolean {
    return this.isBuiltIn(group) || this.changing?.knows(group) === true;
  }

  /** See {@link ChangingResources.definitionCondition}; undefined for a built-in resource type. */
  definitionCondition({ group, name }: Resource): WriteCondition | undefined {
    return this.isBuiltIn(group) ? undefined : this.changing?.definitionCondition(group, name);
  }

  /** Whether the resource types of the group are built in. */
  isBuiltIn(group: string): boolean {
    return this.byPath.has(group);
  }

  /**
   * Whether a resource can't be a custom one: its group is built in, or its store prefix is that of a declared kind, which may be served
   * again after the next start.
   */
  reserves(group: string, resource: string): boolean {
    return this.isBuiltIn(group) || this.declared.has(`${group}/${resource}`);
  }

  /** The same array until something changes. */
  get groupVersions(): readonly ServedGroupVersion[] {
    const { revision } = this;
    if (this.cached?.revision !== revision) {
      this.cached = { revision, all: [...this.builtInVersions, ...(this.changing?.groupVersions ?? [])] };
    }
    return this.cached.all;
  }

  /** See {@link ChangingResources.readAll}. */
  readAll(): MaybePromise<void> {
    return this.changing?.readAll();
  }

  /** Every served resource type with the same objects, including the argument, in the order of discovery. */
  withSameObjects({ group, name, storePrefix }: Resource): readonly Resource[] {
    const all = this.isBuiltIn(group)
      ? this.builtInByPrefix.get(storePrefix)
      : this.changing?.versionsOf(group, name);
    return all ?? [];
  }

  /** The served versions of a resource, in the order of discovery. */
  versionsOf(group: string, name: string): readonly Resource[] {
    if (!this.isBuiltIn(group)) return this.changing?.versionsOf(group, name) ?? [];
    const versions = this.builtInVersions.filter((one) => one.group === group);
    return versions.flatMap(({ resources }) => resources.find((one) => one.name === name) ?? []);
  }

  /** The resource type at a path, or undefined. */
  find(group: string, version: string, resource: string): Resource | undefined {
    const versions = this.byPath.get(group);
    if (versions === undefined) return this.changing?.find(group, version, resource);
    return versions.get(version)?.get(resource);
  }

  /** The resource type whose objects have this apiVersion and kind, or undefined. */
  findKind(apiVersion: string, kind: string): Resource | undefined {
    const at = apiVersion.indexOf("/");
    const group = at === -1 ? "" : apiVersion.slice(0, at);
    const version = apiVersion.slice(at + 1);
    const versions = this.byPath.get(group);
    if (versions === undefined) return this.changing?.findKind(group, version, kind);
    return this.builtInByKind.get(`${apiVersion}/${kind}`);
  }

  /** The kind of a body with this apiVersion and kind: that of a resource type or of the body of a subresource. */
  bodyKind(apiVersion: string, kind: string): Kind | undefined {
    const served = this.findKind(apiVersion, kind)?.kind;
    if (served !== undefined) return served;
    this.subresourceKinds ??= this.subresourceBodies();
    return this.subresourceKinds.get(`${apiVersion}/${kind}`);
  }

  private subresourceBodies(): ReadonlyMap<string, Kind> {
    const bodies = new Map<string, Kind>();
    const resources = this.builtInVersions.flatMap((one) => one.resources);
    const declared = resources.flatMap(({ kind }) => Object.values(kind.subresources));
    for (const one of declared) {
      if (one.shape !== "action" && one.shape !== "view") continue;
      const { kind, group, version } = resourceOf(one.kind(), this.vocabulary);
      const older = one.shape === "action" ? (one.olderVersions ?? []) : [];
      for (const each of [version, ...older]) {
        bodies.set(`${apiVersionOf(group, each)}/${kind.name}`, kind);
      }
    }
    return bodies;
  }

  /** Whether the kind's resource type is served. */
  serves(kind: Pick<Kind, "group" | "version" | "resource">): boolean {
    return this.find(groupName(kind.group, this.vocabulary), kind.version, kind.resource) !== undefined;
  }

  /**
   * The resource type of a kind.
   *
   * @throws {Error} the kind is not served.
   */
  require(kind: Kind): Resource {
    const resource = this.find(groupName(kind.group, this.vocabulary), kind.version, kind.resource);
    if (resource === undefined) throw new Error(`${kind.name} is not served`);
    return resource;
  }

  /** The resource type of a store key, in the storage version if it is served; undefined if it isn't served. */
  ofKey(key: string): Resource | undefined {
    const prefix = key.slice(0, key.indexOf("/", key.indexOf("/", 1) + 1) + 1);
    const builtIn = this.builtInByPrefix.get(prefix);
    if (builtIn !== undefined) return builtIn.find((one) => one.stored === one) ?? builtIn[0];
    return this.changing?.stored.find(({ storePrefix }) => storePrefix === prefix);
  }

  /** Every served resource type that stores objects, once for all versions: the storage version if it is served. */
  stored(): Resource[] {
    const byPrefix = new Map<string, Resource>();
    for (const resource of this.builtInVersions.flatMap((one) => one.resources)) {
      if (!isStored(resource)) continue;
      if (resource.stored === resource || !byPrefix.has(resource.storePrefix)) {
        byPrefix.set(resource.storePrefix, resource);
      }
    }
    return [...byPrefix.values(), ...(this.changing?.stored ?? [])];
  }
}

/** The group versions at a revision. */
interface CachedVersions {
  readonly revision: number;
  readonly all: readonly ServedGroupVersion[];
}

function innerMap<V>(maps: Map<string, Map<string, V>>, name: string): Map<string, V> {
  let inner = maps.get(name);
  if (inner === undefined) maps.set(name, (inner = new Map()));
  return inner;
}

/** The members of a resource type that depend on kind and vocabulary only. */
type ResourceNames = Omit<Resource, "stored" | "storage">;

const namesByVocabulary = new WeakMap<Vocabulary, WeakMap<Kind, ResourceNames>>();

function resourceNames(kind: Kind, vocabulary: Vocabulary): ResourceNames {
  let byKind = namesByVocabulary.get(vocabulary);
  if (byKind === undefined) namesByVocabulary.set(vocabulary, (byKind = new WeakMap()));
  let names = byKind.get(kind);
  if (names === undefined) byKind.set(kind, (names = newResourceNames(kind, vocabulary)));
  return names;
}

function newResourceNames(kind: Kind, vocabulary: Vocabulary): ResourceNames {
  const group = groupName(kind.group, vocabulary);
  const apiVersion = apiVersionOf(group, kind.version);
  return {
    kind,
    group,
    version: kind.version,
    apiVersion,
    name: kind.resource,
    namespaced: kind.scope === "Namespaced",
    storePrefix: storePrefixOf(group, kind.collection ?? kind.resource),
    bodyPrefix: Buffer.from(
      `{"kind":${JSON.stringify(kind.name)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{"resourceVersion":"`,
    ),
  };
}

/** Creates the resource type of a kind under a vocabulary, served or not. */
export function resourceOf(declared: Kind, vocabulary: Vocabulary): Resource {
  const kind = kindInVocabulary(declared, vocabulary);
  const resource: Omit<Resource, "stored"> = { ...resourceNames(kind, vocabulary), storage: undefined };
  if (kind.conversion === undefined)
    return Object.assign(resource, {
      get stored() {
        return resource as Resource;
      },
    });
  const stored = resourceOf(kind.conversion.stored(), vocabulary);
  return { ...resource, stored, storePrefix: stored.storePrefix };
}

/** Whether objects of the type are stored; reviews, for example, are only returned to the client. */
export function isStored({ kind: { verbs, custom } }: Resource): boolean {
  return custom !== undefined || (verbs.includes("create") && verbs.includes("get"));
}

/** Prefix of the store keys of a resource type's objects, ending in `/`. */
export function storePrefixOf(group: string, resource: string): string {
  return `/${group === "" ? "core" : group}/${resource}/`;
}

/** The store key of an object; a cluster-scoped one has the empty namespace. */
export function keyOf(resource: Pick<Resource, "storePrefix">, namespace: string, name: string): string {
  return `${resource.storePrefix}${namespace}/${name}`;
}

/** The store prefix of a collection: of one namespace, or (empty) of all. */
export function prefixOf(resource: Resource, namespace: string): string {
  return namespace === "" ? resource.storePrefix : `${resource.storePrefix}${namespace}/`;
}

/** Namespace and name of a store key. */
export function namesOf(key: string): { readonly namespace: string; readonly name: string } {
  const end = key.lastIndexOf("/");
  const start = key.lastIndexOf("/", end - 1);
  return { namespace: key.slice(start + 1, end), name: key.slice(end + 1) };
}
