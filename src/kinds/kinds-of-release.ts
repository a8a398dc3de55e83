import type { Release } from "../base/releases.ts";
import type { Kind } from "../schema/kind.ts";
import { builtInKinds } from "./all.ts";
import { inDiscoveryOrder } from "./discovery-order.ts";
import * as later from "./later-kinds.ts";
import { isInRelease } from "./life-cycles.ts";

/** Returns the built-in kinds that a release serves, or can serve, in the order of discovery. */
export function kindsOfRelease(release: Release): readonly Kind[] {
  const all = [...builtInKinds, ...Object.values<Kind>(later)];
  return inDiscoveryOrder(all.filter((kind) => isInRelease(kind, release)));
}
