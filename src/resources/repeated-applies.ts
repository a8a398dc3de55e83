import { createHash } from "node:crypto";
import { RecentMap } from "../base/recent-map.ts";
import type { Entry, Revision } from "../storage/store.ts";
import type { Resource } from "./registry.ts";

/** How many applies are remembered: one of each manager to each object, some 500 bytes each. */
const maxRemembered = 16_384;

/** All that decides what an apply to an object that stands comes to. */
export interface ApplyQuestion {
  /** Names the object in the store, and what else the outcome depends on: the manager, the options. */
  readonly key: string;
  /** The version through which is applied. Its declaration may be replaced by another. */
  readonly resource: Resource;
  /** A digest of the body's bytes that nobody can make two of. */
  readonly digest: string;
}

interface Remembered extends Omit<ApplyQuestion, "key"> {
  readonly revision: Revision;
  readonly warnings: readonly string[];
}

/**
 * The applies that changed nothing. Reconcilers apply the same bytes again and again; as long as the object is the one to
 * which they changed nothing, they don't change anything, which is so known without reading them (spec: conventions 4.10).
 * What was asked for longest ago makes room for what comes.
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
