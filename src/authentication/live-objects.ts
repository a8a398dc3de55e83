import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { keyOf, type Registry, type Resource } from "../resources/registry/registry.ts";
import { decodeEntry } from "../resources/objects/stored.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Revision, Store } from "../storage/store.ts";

/** What tells an object from another one of its name. */
export interface Identity {
  readonly uid: string;
  /** When it is, or was to be, gone, in milliseconds since 1970; undefined unless it is being deleted. */
  readonly deletedMs: number | undefined;
}

/** Resource types that tokens are about. */
export type TokenObject = "serviceaccounts" | "pods" | "secrets";

/** So many identities are remembered. */
const maxKnown = 10_000;

/**
 * The objects that tokens are about, as they are stored now: what was deleted before a request no longer vouches for it.
 */
export class LiveObjects {
  private readonly known = new Map<string, { readonly revision: Revision; readonly identity: Identity }>();
  private readonly resources: ReadonlyMap<TokenObject, Resource | undefined>;

  constructor(
    private readonly store: Store,
    registry: Registry,
  ) {
    const names: readonly TokenObject[] = ["serviceaccounts", "pods", "secrets"];
    this.resources = new Map(names.map((name) => [name, registry.find("", "v1", name)]));
  }

  /** An object's identity; undefined when there is no such object. */
  identity(type: TokenObject, namespace: string, name: string): MaybePromise<Identity | undefined> {
    const key = this.key(type, namespace, name);
    if (key === undefined) return undefined;
    return andThen(this.store.get(key), (entry) => {
      if (entry === undefined) {
        this.known.delete(key);
        return undefined;
      }
      const before = this.known.get(key);
      if (before?.revision === entry.revision) return before.identity;
      const identity = identityOf(decodeEntry(entry));
      this.known.delete(key);
      this.known.set(key, { revision: entry.revision, identity });
      for (const oldest of this.known.keys()) {
        if (this.known.size <= maxKnown) break;
        this.known.delete(oldest);
      }
      return identity;
    });
  }

  /** An object, or undefined. */
  object(type: TokenObject, namespace: string, name: string): MaybePromise<ApiObject | undefined> {
    const key = this.key(type, namespace, name);
    if (key === undefined) return undefined;
    return andThen(this.store.get(key), (entry) => (entry === undefined ? undefined : decodeEntry(entry)));
  }

  /** Names come from tokens: one that can't be an object's must not become part of a key. */
  private key(type: TokenObject, namespace: string, name: string): string | undefined {
    const resource = this.resources.get(type);
    const impossible = namespace === "" || name === "" || `${namespace}${name}`.includes("/");
    return resource === undefined || impossible ? undefined : keyOf(resource, namespace, name);
  }
}

/** See {@link Identity}. */
export function identityOf({ metadata }: ApiObject): Identity {
  const { uid = "", deletionTimestamp } = metadata;
  return { uid, deletedMs: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) };
}
