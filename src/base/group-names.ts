/** Returns the `apiVersion` of a group version: `v1` for the core group, otherwise for example `apps/v1`. */
export function apiVersionOf(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Returns a resource type or kind with its group, as in error messages: `pods`, `deployments.apps`. */
export function qualifiedName(name: string, group: string): string {
  return group === "" ? name : `${name}.${group}`;
}
