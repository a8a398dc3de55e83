/** `apiVersion` of a group version: `v1` of the core group, else `apps/v1`. */
export function apiVersionOf(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

/** A resource type or kind with its group, as error messages name it: `pods`, `deployments.apps`. */
export function qualifiedName(name: string, group: string): string {
  return group === "" ? name : `${name}.${group}`;
}
