import { structsIn } from "./structs.ts";
import type { Group } from "./types.ts";

/** The group of the types that every group uses. */
export const metaGroup: Group = { base: "meta", suffixed: true };

/** The words with which those types are declared. */
export const { struct, atomicStruct } = structsIn({ group: metaGroup, version: "v1" });
