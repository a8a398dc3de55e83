import type { Group, GroupVersion } from "../../schema/types.ts";

/** A group that no release serves any more. */
export const extensions: Group = { base: "extensions", suffixed: false };

/** A version of a group. */
export function groupVersion(group: Group, version: string): GroupVersion {
  return { group, version };
}
