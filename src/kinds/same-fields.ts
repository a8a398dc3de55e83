import type { Conversion, Kind } from "../schema/kind.ts";

/** Returns the conversion of a version that has the same fields as the stored one. */
export function sameFields(stored: () => Kind): Conversion {
  return { stored, toStored: (object) => object, fromStored: (object) => object };
}
