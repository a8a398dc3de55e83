import { defaultRelease, type Release } from "../base/releases.ts";
import { kindInRelease } from "../schema/kind-in-release.ts";
import type { Kind } from "../schema/kind.ts";
import { builtInKinds } from "./all.ts";
import { inDiscoveryOrder } from "./discovery-order.ts";
import * as later from "./later-kinds.ts";
import { isInRelease } from "./life-cycles.ts";

/** Returns the built-in kinds that a release serves, or can serve, with its fields, in the order of discovery. */
export function kindsOfRelease(release: Release): readonly Kind[] {
  const all = [...builtInKinds, ...Object.values<Kind>(later)];
  const kinds = inDiscoveryOrder(all.filter((kind) => isInRelease(kind, release)));
  return release === defaultRelease ? kinds : kinds.map((kind) => kindInRelease(kind, release));
}
