import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import { keyOf, type Registry, type Resource } from "../resources/registry/registry.ts";
import { decodeEntry } from "../resources/objects/stored.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Revision, Store } from "../storage/store.ts";

/** Distinguishes an object from a deleted one with the same name. */
export interface Identity {
  readonly uid: string;
  /** Deletion timestamp in milliseconds since 1970; undefined unless the object is being deleted. */
  readonly deletionTimeMs: number | undefined;
}

/** Resource types to which tokens refer. */
export type TokenResource = "serviceaccounts" | "pods" | "secrets" | "nodes";

/** Maximum number of cached identities. */
const maxCachedIdentities = 10_000;

/**
 * Reads the objects to which tokens refer from the store, so that a token is invalid as soon as its object is deleted.
 */
export class LiveObjects {
  private readonly identities = new Map<
    string,
    { readonly revision: Revision; readonly identity: Identity }
  >();
  private readonly resources: ReadonlyMap<TokenResource, Resource | undefined>;

  constructor(
    private readonly store: Store,
    registry: Registry,
    private readonly maxCached = maxCachedIdentities,
  ) {
    const names: readonly TokenResource[] = ["serviceaccounts", "pods", "secrets", "nodes"];
    this.resources = new Map(names.map((name) => [name, registry.find("", "v1", name)]));
  }

  /** Returns the identity of an object; undefined if it doesn't exist. Decodes an object once per revision. */
  identity(type: TokenResource, namespace: string, name: string): MaybePromise<Identity | undefined> {
    const key = this.key(type, namespace, name);
    if (key === undefined) return undefined;
    return andThen(this.store.get(key), (entry) => {
      if (entry === undefined) {
        this.identities.delete(key);
        return undefined;
      }
      const cached = this.identities.get(key);
      if (cached?.revision === entry.revision) return cached.identity;
      const identity = identityOf(decodeEntry(entry));
      this.identities.delete(key);
      this.identities.set(key, { revision: entry.revision, identity });
      for (const oldest of this.identities.keys()) {
        if (this.identities.size <= this.maxCached) break;
        this.identities.delete(oldest);
      }
      return identity;
    });
  }

  /** Returns an object; undefined if it doesn't exist. */
  object(type: TokenResource, namespace: string, name: string): MaybePromise<ApiObject | undefined> {
    const key = this.key(type, namespace, name);
    if (key === undefined) return undefined;
    return andThen(this.store.get(key), (entry) => (entry === undefined ? undefined : decodeEntry(entry)));
  }

  /** Returns the store key. The names come from tokens, so names that would change the structure of the key are rejected. */
  private key(type: TokenResource, namespace: string, name: string): string | undefined {
    const resource = this.resources.get(type);
    const isWithin = type === "nodes" ? namespace === "" : namespace !== "";
    const invalid = !isWithin || name === "" || `${namespace}${name}`.includes("/");
    return resource === undefined || invalid ? undefined : keyOf(resource, namespace, name);
  }
}

/** Returns the identity of an object. */
export function identityOf({ metadata }: ApiObject): Identity {
  const { uid = "", deletionTimestamp } = metadata;
  return { uid, deletionTimeMs: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) };
}
