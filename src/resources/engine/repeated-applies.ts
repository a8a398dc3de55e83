import { createHash } from "node:crypto";
import { RecentMap } from "../../base/collections/recent-map.ts";
import type { Entry, Revision } from "../../storage/store.ts";
import type { Resource } from "../registry/registry.ts";

/** Maximum number of cached applies: one per object and manager, each about 500 bytes. */
const maxApplies = 16_384;

/** The input on which the result of an apply to an existing object depends. */
export interface ApplyInput {
  /** The key of the object, the manager and the options. */
  readonly key: string;
  /** The resource type of the request, compared by identity: a changed definition creates a new `Resource`. */
  readonly resource: Resource;
  /** Collision-resistant digest of the body. */
  readonly digest: string;
}

interface CachedApply extends Omit<ApplyInput, "key"> {
  readonly revision: Revision;
  readonly warnings: readonly string[];
}

/**
 * Cache of applies that changed nothing. Reconcilers apply the same bytes again and again; while the object has the revision at which they
 * changed nothing, they are answered without parsing the body (spec: conventions 4.10). Evicts the least recently used.
 */
export class RepeatedApplies {
  private readonly applies: RecentMap<CachedApply>;

  constructor(maxEntries = maxApplies) {
    this.applies = new RecentMap({ entries: maxEntries, cost: 0 });
  }

  /** The warnings of the same apply to this revision of the object; undefined if it isn't cached. */
  find({ key, resource, digest }: ApplyInput, { revision }: Entry): readonly string[] | undefined {
    const cached = this.applies.get(key);
    if (cached === undefined) return undefined;
    const isSame = cached.resource === resource && cached.revision === revision && cached.digest === digest;
    return isSame ? cached.warnings : undefined;
  }

  /** Adds an apply that changed nothing. */
  add({ key, resource, digest }: ApplyInput, { revision }: Entry, warnings: readonly string[]): void {
    this.applies.set(key, { resource, digest, revision, warnings });
  }
}

/** The digest of a body. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}
