import { struct } from "./meta.ts";
import { bool, field, list, string, type StructType } from "./types.ts";

const ServerAddress = struct("ServerAddressByClientCIDR", "A server address for clients of a network.", {
  clientCIDR: field(1, string, "Network of the clients in CIDR notation."),
  serverAddress: field(2, string, "Host and port of the server."),
});

const GroupVersion = struct("GroupVersionForDiscovery", "A group version.", {
  groupVersion: field(1, string, "Group and version, such as `apps/v1`."),
  version: field(2, string, "Version without the group."),
});

const typeMeta = {
  kind: field(undefined, string, "Kind of the document."),
  apiVersion: field(undefined, string, "API version of the document."),
};

const Group = struct("APIGroup", "An API group and its versions.", {
  ...typeMeta,
  name: field(1, string, "Name of the API group."),
  versions: field(2, list(GroupVersion), "Versions of the group, in order of preference."),
  preferredVersion: field(3, GroupVersion, "Preferred version of the group."),
  serverAddressByClientCIDRs: field(4, list(ServerAddress), "Server addresses, by network of the client."),
});

/** In protobuf, verbs are a message of their own; in JSON they are a list. */
const Verbs = struct("Verbs", "Verbs of a resource type.", {
  items: field(1, list(string), "The verbs."),
});

const ApiResource = struct("APIResource", "A resource type or a subresource.", {
  name: field(1, string, "Plural name, or resource and subresource such as `pods/status`."),
  singularName: field(6, string, "Singular name of the resource."),
  namespaced: field(2, bool, "Whether the resource is namespaced."),
  group: field(8, string, "API group of the kind; absent if it is that of the list."),
  version: field(9, string, "API version of the kind; absent if it is that of the list."),
  kind: field(3, string, "Kind of the objects."),
  verbs: field(4, Verbs, "Supported verbs.").nullable(),
  shortNames: field(5, list(string), "Short names of the resource."),
  categories: field(7, list(string), "Categories of the resource, such as `all`."),
  storageVersionHash: field(10, string, "Hash of the version in which objects are stored."),
});

/** The types of the discovery documents, by kind (spec: conventions 4.7). */
export const discoveryTypes: Readonly<Record<string, StructType>> = {
  APIVersions: struct("APIVersions", "Versions of the core group.", {
    ...typeMeta,
    versions: field(1, list(string), "Names of the versions."),
    serverAddressByClientCIDRs: field(2, list(ServerAddress), "Server addresses, by network of the client."),
  }),
  APIGroup: Group,
  APIGroupList: struct("APIGroupList", "The API groups that the server serves.", {
    ...typeMeta,
    groups: field(1, list(Group), "The API groups."),
  }),
  APIResourceList: struct("APIResourceList", "The resource types of a group version.", {
    ...typeMeta,
    groupVersion: field(1, string, "Group and version of the resource types."),
    resources: field(2, list(ApiResource), "The resource types."),
  }),
};
