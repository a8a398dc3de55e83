import type { Group, GroupVersion } from "../../schema/types.ts";

/** A group that no supported release serves. */
export const extensions: Group = { base: "extensions", suffixed: false };

export function groupVersion(group: Group, version: string): GroupVersion {
  return { group, version };
}
