import { objectAs } from "../../schema/api-object.ts";
import { decodedEntry } from "../../resources/followers/informer.ts";
import { namesOf } from "../../resources/registry/registry.ts";
import type { Entry } from "../../storage/store.ts";
import type { BindingObject, StoredRole } from "./policy.ts";
import type { RbacIndex } from "./rbac-index.ts";

/** Adds a stored role or binding to an index; see `FollowHandler.put` for `lasting`. */
export function putGrant(index: RbacIndex, entry: Entry, lasting: boolean): void {
  const { namespace, name } = namesOf(entry.key);
  const object = decodedEntry(entry, lasting);
  switch (object.kind) {
    case "ClusterRole":
      return index.putClusterRole(name, objectAs<StoredRole>(object));
    case "Role":
      return index.putRole(namespace, name, objectAs<StoredRole>(object));
    case "ClusterRoleBinding":
      return index.putClusterRoleBinding(name, objectAs<BindingObject>(object));
    case "RoleBinding":
      return index.putRoleBinding(namespace, name, objectAs<BindingObject>(object));
  }
}

/** Removes the role or binding with a key from an index. */
export function removeGrant(index: RbacIndex, key: string): void {
  const { namespace, name } = namesOf(key);
  switch (collectionOf(key)) {
    case "clusterroles":
      return index.removeClusterRole(name);
    case "roles":
      return index.removeRole(namespace, name);
    case "clusterrolebindings":
      return index.removeClusterRoleBinding(name);
    case "rolebindings":
      return index.removeRoleBinding(namespace, name);
  }
}

/** The resource type of a key of a role or binding. */
export function collectionOf(key: string): string {
  return key.split("/")[2] ?? "";
}
