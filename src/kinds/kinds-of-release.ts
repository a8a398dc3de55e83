import { defaultRelease, type Release } from "../base/releases.ts";
import { kindInRelease } from "../schema/kind-in-release.ts";
import type { Kind } from "../schema/kind.ts";
import { builtInKinds } from "./all.ts";
import { inDiscoveryOrder } from "./discovery-order.ts";
import { isInRelease } from "./life-cycles.ts";

/**
 * Returns the built-in kinds that a release serves, or can serve, with its fields, in the order of discovery. The reference release doesn't
 * load the kinds that later releases added.
 */
export async function kindsOfRelease(release: Release): Promise<readonly Kind[]> {
  if (release === defaultRelease) return inRelease(builtInKinds, release);
  const later = await import("./added-kinds.ts");
  const kinds = inRelease([...builtInKinds, ...Object.values<Kind>(later)], release);
  return kinds.map((kind) => kindInRelease(kind, release));
}

function inRelease(kinds: readonly Kind[], release: Release): readonly Kind[] {
  return inDiscoveryOrder(kinds.filter((kind) => isInRelease(kind, release)));
}
