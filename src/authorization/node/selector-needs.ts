import { applies, gate, since } from "../../base/release-rows.ts";
import type { RoleOptions } from "../rbac/default-roles/release-roles.ts";

/** Whether nodes list and watch only what a field selector limits to them. */
export const needsNodeSelectors: (options: RoleOptions) => boolean = applies(
  gate("AuthorizeNodeWithSelectors"),
  since("1.37"),
);
