import { getJson } from "./client.ts";
import { typesOf, type ResourceList, type ResourceType } from "../model/resource-types.ts";

interface GroupList {
  readonly groups: readonly {
    readonly name: string;
    readonly preferredVersion: { readonly groupVersion: string };
    readonly versions: readonly { readonly groupVersion: string }[];
  }[];
}

/** What the server, or the workspace that the page shows, serves. */
export interface ServerTypes {
  readonly types: readonly ResourceType[];
  /** Last words of the server's own API groups, for example `platform.io`. */
  readonly groupSuffix: string;
}

/**
 * Reads the resource types of all groups. Groups that can't be read, such as those of an unavailable extension server, are left out.
 *
 * @param workspace by default the one that the page shows.
 * @throws as `send`, if the list of groups can't be read.
 */
export async function readTypes(workspace?: string): Promise<ServerTypes> {
  const { groups } = await getJson<GroupList>("/apis", { workspace });
  const versions = groups.flatMap(({ preferredVersion, versions: all }) => [
    preferredVersion.groupVersion,
    ...all.map(({ groupVersion }) => groupVersion).filter((one) => one !== preferredVersion.groupVersion),
  ]);
  const paths = ["/api/v1", ...versions.map((one) => `/apis/${one}`)];
  const lists = await Promise.all(
    paths.map((path) => getJson<ResourceList>(path, { workspace }).catch(() => undefined)),
  );
  const reviews = groups.find(({ name }) => name.startsWith("authorization."))?.name ?? "";
  return {
    types: typesOf(lists.filter((one) => one !== undefined)),
    groupSuffix: reviews.slice("authorization.".length),
  };
}

/** Returns the resource types about workspaces, which only the server itself serves; empty if it serves none. @throws as `send` */
export async function readWorkspaceTypes(): Promise<readonly ResourceType[]> {
  const { groups } = await getJson<GroupList>("/apis", { workspace: "" });
  const group = groups.find(({ name }) => isWorkspaceGroup(name));
  if (group === undefined) return [];
  const path = `/apis/${group.preferredVersion.groupVersion}`;
  return typesOf([await getJson<ResourceList>(path, { workspace: "" })]);
}

/** Returns the types about workspaces among those of the server. */
export function workspaceTypesIn(types: readonly ResourceType[]): readonly ResourceType[] {
  return types.filter(({ group }) => isWorkspaceGroup(group));
}

function isWorkspaceGroup(name: string): boolean {
  return name.startsWith("tenancy.");
}
