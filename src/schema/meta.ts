import { structsIn } from "./structs.ts";
import type { Group } from "./types.ts";

/** The group of types that all groups share. */
export const metaGroup: Group = { base: "meta", suffixed: true };

/** Functions that declare types of this group. */
export const { struct, atomicStruct } = structsIn({ group: metaGroup, version: "v1" });
