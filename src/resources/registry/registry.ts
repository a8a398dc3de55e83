import { apiVersionOf } from "../../base/group-names.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { spelledKind } from "../../schema/spelling.ts";
import { groupName, type Kind } from "../../schema/kind.ts";
import type { WriteCondition } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { VersionedStorage } from "./versioned-storage.ts";

/** One resource type of one group version, as the generic engine serves it. */
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
  /** The resource type in whose version its objects are stored; itself, unless its kind has a conversion. */
  readonly stored: Resource;
  /** Prefix of its objects in the store, ending in `/`. */
  readonly storePrefix: string;
  /** A body's bytes up to where its revision goes (see `stored.ts`). */
  readonly bodyPrefix: Buffer;
  /** @internal Undefined for built-in kinds, whose objects are stored as they are served. */
  readonly storage: VersionedStorage | undefined;
}

export interface ServedGroupVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly Resource[];
}

/** Resource types that come and go while a server runs: those of custom kinds. */
export interface ChangingResources {
  /** Grows with every change. */
  readonly revision: number;
  /**
   * Waits until every change is known that was acknowledged before the call, by any process.
   *
   * @throws {StoreUnavailableError} they can't be followed at present.
   */
  sync(): MaybePromise<void>;
  /** Whether anything is defined in a group, served or not. */
  knows(group: string): boolean;
  /** The served resource type at a path, or undefined. */
  find(group: string, version: string, name: string): Resource | undefined;
  /** The served resource type of a kind, or undefined; only the definitions of the group are read for it. */
  findKind(group: string, version: string, kind: string): Resource | undefined;
  /** Changes when the definitions of a group do; the same on every server over one store that has seen the same. */
  revisionOf(group: string): string;
  /** The versions in which the objects of a resource are served, in the order of discovery. */
  versionsOf(group: string, name: string): readonly Resource[];
  /**
   * The definition of a resource type as it was last seen, as a condition of writes that depend on it; undefined where there is
   * none any more.
   */
  definitionCondition(group: string, name: string): WriteCondition | undefined;
  /**
   * Reads what is known and was never asked for, others having their turn in between: {@link groupVersions} and {@link stored} would
   * read it at once. Returns nothing where all of it was read.
   */
  readAll(): MaybePromise<void>;
  /** The served ones. */
  readonly groupVersions: readonly ServedGroupVersion[];
  /** Every resource type whose objects are stored, in the version in which they are. */
  readonly stored: readonly Resource[];
}

/** Which resource types a server serves: built-in ones, which never change, and those of custom kinds. */
export class Registry {
  /** By group, version and name; asked several times for each request. */
  private readonly byPath = new Map<string, Map<string, Map<string, Resource>>>();
  /** Those that never change; asking for them reads no definition of a custom kind. */
  readonly builtInVersions: readonly ServedGroupVersion[];
  /** By `apiVersion/kind`. */
  private readonly builtInByKind = new Map<string, Resource>();
  /** By what their objects' keys begin with. */
  private readonly builtInByPrefix = new Map<string, Resource[]>();
  /** Of all declared kinds, also those that aren't served, as `group/resource`. */
  private readonly declared = new Set<string>();
  private askedWith: ReadonlyMap<string, Kind> | undefined;
  private known: KnownVersions | undefined;
  /** Set while a server is put together, where it has custom kinds. */
  changing: ChangingResources | undefined;

  /**
   * @param kinds the declared kinds.
   * @param served whether a kind's resource is served; see `runtime-config.ts`.
   */
  constructor(
    kinds: readonly Kind[],
    readonly vocabulary: Vocabulary,
    served: (group: string, kind: Kind) => boolean,
  ) {
    const versions = new Map<string, { group: string; version: string; resources: Resource[] }>();
    for (const kind of kinds) {
      const group = groupName(kind.group, vocabulary);
      this.declared.add(`${group}/${kind.resource}`);
      if (!served(group, kind)) continue;
      const resource = resourceOf(kind, vocabulary);
      below(below(this.byPath, group), kind.version).set(kind.resource, resource);
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

  /** Grows with every change of what is served. */
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

  /** Whether there is, as far as it is known, a group of that name. */
  knows(group: string): boolean {
    return this.isBuiltIn(group) || this.changing?.knows(group) === true;
  }

  /** See {@link ChangingResources.definitionCondition}; undefined for a built-in resource type. */
  definitionCondition({ group, name }: Resource): WriteCondition | undefined {
    return this.isBuiltIn(group) ? undefined : this.changing?.definitionCondition(group, name);
  }

  /** Whether the group's resource types are built in, so that they never change. */
  isBuiltIn(group: string): boolean {
    return this.byPath.has(group);
  }

  /**
   * Whether a resource can't be defined as a custom one: its group is built in, or its objects are stored where those of a declared kind
   * are, which may be served again at the next start.
   */
  reserves(group: string, resource: string): boolean {
    return this.isBuiltIn(group) || this.declared.has(`${group}/${resource}`);
  }

  /** The same array until something changes. */
  get groupVersions(): readonly ServedGroupVersion[] {
    const { revision } = this;
    if (this.known?.revision !== revision) {
      this.known = { revision, all: [...this.builtInVersions, ...(this.changing?.groupVersions ?? [])] };
    }
    return this.known.all;
  }

  /** See {@link ChangingResources.readAll}. */
  readAll(): MaybePromise<void> {
    return this.changing?.readAll();
  }

  /** Every served resource type with the same objects, the given one among them, in the order of discovery. */
  withSameObjects({ group, name, storePrefix }: Resource): readonly Resource[] {
    const all = this.isBuiltIn(group)
      ? this.builtInByPrefix.get(storePrefix)
      : this.changing?.versionsOf(group, name);
    return all ?? [];
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

  /** The kind of a body with this apiVersion and kind: of a resource type, or of what subresources are asked with. */
  bodyKind(apiVersion: string, kind: string): Kind | undefined {
    const found = this.findKind(apiVersion, kind)?.kind;
    if (found !== undefined) return found;
    this.askedWith ??= this.subresourceBodies();
    return this.askedWith.get(`${apiVersion}/${kind}`);
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
  serves(kind: Kind): boolean {
    return this.find(groupName(kind.group, this.vocabulary), kind.version, kind.resource) !== undefined;
  }

  /** The resource type of a kind that this server serves for certain. */
  require(kind: Kind): Resource {
    const found = this.find(groupName(kind.group, this.vocabulary), kind.version, kind.resource);
    if (found === undefined) throw new Error(`${kind.name} is not served`);
    return found;
  }

  /** Every served resource type that stores objects; of several versions of one, that in which they are stored. */
  stored(): Resource[] {
    const found = new Map<string, Resource>();
    for (const resource of this.builtInVersions.flatMap((one) => one.resources)) {
      if (!isStored(resource)) continue;
      if (resource.stored === resource || !found.has(resource.storePrefix)) {
        found.set(resource.storePrefix, resource);
      }
    }
    return [...found.values(), ...(this.changing?.stored ?? [])];
  }
}

/** The group versions as they are at a revision. */
interface KnownVersions {
  readonly revision: number;
  readonly all: readonly ServedGroupVersion[];
}

function below<V>(maps: Map<string, Map<string, V>>, name: string): Map<string, V> {
  let found = maps.get(name);
  if (found === undefined) maps.set(name, (found = new Map()));
  return found;
}

/** A kind's resource type under a vocabulary, served or not. */
export function resourceOf(declared: Kind, vocabulary: Vocabulary): Resource {
  const kind = spelledKind(declared, vocabulary);
  const group = groupName(kind.group, vocabulary);
  const apiVersion = apiVersionOf(group, kind.version);
  const resource: Omit<Resource, "stored"> = {
    kind,
    group,
    version: kind.version,
    apiVersion,
    name: kind.resource,
    namespaced: kind.scope === "Namespaced",
    storePrefix: storePrefixOf(group, kind.resource),
    bodyPrefix: Buffer.from(
      `{"kind":${JSON.stringify(kind.name)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{"resourceVersion":"`,
    ),
    storage: undefined,
  };
  if (kind.conversion === undefined)
    return Object.assign(resource, {
      get stored() {
        return resource as Resource;
      },
    });
  const stored = resourceOf(kind.conversion.stored(), vocabulary);
  return { ...resource, stored, storePrefix: stored.storePrefix };
}

/** Whether the server keeps objects of the type; others are answers, such as reviews. */
export function isStored({ kind: { verbs, custom } }: Resource): boolean {
  return custom !== undefined || (verbs.includes("create") && verbs.includes("get"));
}

/** Prefix of the store keys of a resource type's objects, ending in `/`. */
export function storePrefixOf(group: string, resource: string): string {
  return `/${group === "" ? "core" : group}/${resource}/`;
}

/** The store key of an object; a cluster-scoped one has the empty namespace. */
export function keyOf(resource: Resource, namespace: string, name: string): string {
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
