import { isAtLeast } from "../../base/releases.ts";
import type { RoleOptions } from "../rbac/default-roles/later-roles.ts";

/** Whether nodes list and watch only what a field selector limits to them. */
export function needsNodeSelectors({ release, featureEnabled }: RoleOptions): boolean {
  return isAtLeast(release, "1.37") || featureEnabled("AuthorizeNodeWithSelectors");
}
