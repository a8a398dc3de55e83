import { createHash } from "node:crypto";
import { RecentMap } from "../../base/recent-map.ts";
import type { Entry, Revision } from "../../storage/store.ts";
import type { Resource } from "../registry/registry.ts";

/** How many applies are remembered: one of each manager to each object, some 500 bytes each. */
const maxRemembered = 16_384;

/** Everything that the result of an apply to an existing object depends on. */
export interface ApplyQuestion {
  /** Names the object in the store, and what else the outcome depends on: the manager, the options. */
  readonly key: string;
  /** The version through which is applied. Its declaration may be replaced by another. */
  readonly resource: Resource;
  /** Collision-resistant digest of the body. */
  readonly digest: string;
}

interface Remembered extends Omit<ApplyQuestion, "key"> {
  readonly revision: Revision;
  readonly warnings: readonly string[];
}

/**
 * Remembers applies that changed nothing. Reconcilers apply the same bytes again and again; while the object is at the
 * revision at which they changed nothing, they are answered without parsing the body (spec: conventions 4.10). The least
 * recently used entries are dropped first.
 */
export class RepeatedApplies {
  private readonly remembered: RecentMap<Remembered>;

  constructor(most = maxRemembered) {
    this.remembered = new RecentMap({ entries: most, cost: 0 });
  }

  /** The warnings of the same apply to this very object, if it changed nothing; else undefined. */
  find({ key, resource, digest }: ApplyQuestion, { revision }: Entry): readonly string[] | undefined {
    const known = this.remembered.get(key);
    if (known === undefined) return undefined;
    const isSame = known.resource === resource && known.revision === revision && known.digest === digest;
    return isSame ? known.warnings : undefined;
  }

  /** Takes note of an apply that changed nothing. */
  remember({ key, resource, digest }: ApplyQuestion, { revision }: Entry, warnings: readonly string[]): void {
    this.remembered.set(key, { resource, digest, revision, warnings });
  }
}

/** The digest of a body. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}
