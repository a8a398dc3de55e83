import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { apiregistration, core, events, isKindOf } from "../../kinds/groups.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { shownKey } from "../../storage/derived/hidden-keys.ts";
import { pagesOf } from "../../storage/range-pages.ts";
import type { Revision, Store } from "../../storage/store.ts";
import { engineInVersion } from "../engine/conversion.ts";
import type { Engine, Target } from "../engine/engine.ts";
import { decodeEntry } from "../objects/stored.ts";
import { namesOf, type Registry, type Resource } from "../registry/registry.ts";

/** The objects of a workspace or of the server, as a user sees them. */
export interface BranchView {
  readonly engine: Engine;
  /** Whether the user may get an object there. */
  mayGet(target: Target): MaybePromise<boolean>;
}

/** A workspace whose changes are read. */
export interface Branch extends BranchView {
  /** Has the keys that the workspace has written or hidden. */
  readonly own: Store;
  /** The state with which the workspace begins, as the user sees it; undefined if it began empty. */
  readonly start: { readonly store: Store; readonly at: Revision } | undefined;
}

const pageKeys = 500;

/** Yields the keys that a workspace has written or deleted, in order and each once. The cost depends on their number alone. */
export async function* changedKeys(own: Store, at: Revision): AsyncGenerator<string, void> {
  let last = "";
  for await (const { entries } of pagesOf(own, { prefix: "/", limit: pageKeys, at }))
    for (const entry of entries) {
      const key = shownKey(entry.key);
      // The marker of a key follows it.
      if (key !== last) yield (last = key);
    }
}

/**
 * Returns the resource type of a key in a version that both sides serve; undefined if there is none, and for objects that describe their
 * own workspace: events, and the registrations of group versions that the server itself serves, which a controller writes.
 */
export function comparedResource(key: string, registry: Registry, other: Registry): Resource | undefined {
  const stored = registry.ofKey(key) ?? other.ofKey(key);
  if (stored === undefined || isEvent(stored) || isOwnRegistration(stored, key, registry, other))
    return undefined;
  const { group, version, name } = stored;
  // The storage version of a custom resource needn't be served.
  const versions = [registry.find(group, version, name), ...registry.versionsOf(group, name)];
  const shared = versions.find((one) => one !== undefined && other.find(group, one.version, name));
  return shared ?? versions.find((one) => one !== undefined) ?? other.versionsOf(group, name)[0] ?? stored;
}

function isEvent({ kind }: Resource): boolean {
  return isKindOf(kind, core, "Event") || isKindOf(kind, events, "Event");
}

/** Returns the resource type of a registry at the path of another one; undefined if it isn't served. */
export function sameResource({ group, version, name }: Resource, registry: Registry): Resource | undefined {
  return registry.find(group, version, name);
}

/** Whether a key is that of the registration of a group version which one of the sides serves without an extension server. */
function isOwnRegistration({ kind }: Resource, key: string, ...registries: readonly Registry[]): boolean {
  if (!isKindOf(kind, apiregistration, "APIService")) return false;
  const { name } = namesOf(key);
  const group = name.slice(name.indexOf(".") + 1);
  return registries.some((registry) => registry.knows(group));
}

/** As above, for a group version that none of the two sides serves any more. */
export function isLocalRegistration({ kind }: Resource, object: ApiObject | undefined): boolean {
  if (object === undefined || !isKindOf(kind, apiregistration, "APIService")) return false;
  const { service } = (object["spec"] ?? {}) as { readonly service?: unknown };
  return service === undefined || service === null;
}

export function targetOf(resource: Resource, key: string): Target {
  const { namespace, name } = namesOf(key);
  return { resource, namespace: resource.namespaced ? namespace : "", name, subresource: "" };
}

/**
 * Reads an object in the version of a resource type.
 *
 * @param at by default the latest revision.
 */
export async function readObjectAt(
  engine: Engine,
  resource: Resource,
  key: string,
  at?: Revision,
): Promise<ApiObject | undefined> {
  const entry = await engineInVersion(engine, resource).store.get(key, at);
  return entry && decodeEntry(entry);
}

/** Parses the definitions of custom kinds on both sides. */
export async function prepareRegistries(...registries: readonly Registry[]): Promise<void> {
  for (const registry of new Set(registries)) {
    await registry.sync();
    await registry.readAll();
  }
}
