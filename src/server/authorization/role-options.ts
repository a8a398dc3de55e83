import type { RoleOptions } from "../../authorization/rbac/default-roles/later-roles.ts";
import { defaultRelease } from "../../base/releases.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Returns what decides which rules the default roles have; undefined for the reference release. */
export function laterRoleOptions(options: ServerOptions): RoleOptions | undefined {
  const { release } = options;
  return release === defaultRelease ? undefined : { release, featureEnabled: featureGates(options).enabled };
}
