import type { Group, Home } from "../../schema/types.ts";

/** A group that no release serves any more. */
export const extensions: Group = { base: "extensions", suffixed: false };

/** A version of a group. */
export function home(group: Group, version: string): Home {
  return { group, version };
}
