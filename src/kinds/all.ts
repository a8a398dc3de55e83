import type { Kind } from "../schema/kind.ts";
import * as declarations from "./built-in.ts";
import { inDiscoveryOrder } from "./discovery-order.ts";

/** The built-in kinds of the reference release, in the order of discovery. */
export const builtInKinds: readonly Kind[] = inDiscoveryOrder(Object.values<Kind>(declarations));

// The entry `plinth/kinds` of the package.
export * from "./built-in.ts";
