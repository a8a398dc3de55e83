import { getJson } from "./client.ts";
import { typesOf, type ResourceList, type ResourceType } from "../model/resource-types.ts";

interface GroupList {
  readonly groups: readonly {
    readonly name: string;
    readonly preferredVersion: { readonly groupVersion: string };
    readonly versions: readonly { readonly groupVersion: string }[];
  }[];
}

/** What the server serves. */
export interface ServerTypes {
  readonly types: readonly ResourceType[];
  /** Last words of the server's own API groups, for example `platform.io`. */
  readonly groupSuffix: string;
}

/**
 * Reads the resource types of all groups. Groups that can't be read, such as those of an unavailable extension server, are left out.
 *
 * @throws as `send`, if the list of groups can't be read.
 */
export async function readTypes(): Promise<ServerTypes> {
  const { groups } = await getJson<GroupList>("/apis");
  const versions = groups.flatMap(({ preferredVersion, versions: all }) => [
    preferredVersion.groupVersion,
    ...all.map(({ groupVersion }) => groupVersion).filter((one) => one !== preferredVersion.groupVersion),
  ]);
  const paths = ["/api/v1", ...versions.map((one) => `/apis/${one}`)];
  const lists = await Promise.all(paths.map((path) => getJson<ResourceList>(path).catch(() => undefined)));
  const reviews = groups.find(({ name }) => name.startsWith("authorization."))?.name ?? "";
  return {
    types: typesOf(lists.filter((one) => one !== undefined)),
    groupSuffix: reviews.slice("authorization.".length),
  };
}
