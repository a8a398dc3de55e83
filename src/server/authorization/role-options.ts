import type { ChangeDeclarations } from "../../authorization/rbac/default-roles/declare.ts";
import type { RoleOptions } from "../../authorization/rbac/default-roles/release-roles.ts";
import { defaultRelease } from "../../base/releases.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Returns what decides which rules the default roles have; undefined for the reference release. */
export function laterRoleOptions(options: ServerOptions): RoleOptions | undefined {
  const { release } = options;
  return release === defaultRelease ? undefined : { release, enabled: featureGates(options).enabled };
}

/** Loads the changes of the default roles in the release; undefined for the reference release. */
export async function changeDeclarations(options: ServerOptions): Promise<ChangeDeclarations | undefined> {
  const later = laterRoleOptions(options);
  if (later === undefined) return undefined;
  const { changesOfRelease } = await import("../../authorization/rbac/default-roles/release-roles.ts");
  return changesOfRelease(later);
}
