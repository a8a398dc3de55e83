import { struct } from "./meta.ts";
import { bool, field, list, string, type StructType } from "./types.ts";

const ServerAddress = struct("ServerAddressByClientCIDR", "Where clients of a network reach the server.", {
  clientCIDR: field(1, string, "The network."),
  serverAddress: field(2, string, "Host and port."),
});

const GroupVersion = struct("GroupVersionForDiscovery", "A version of a group.", {
  groupVersion: field(1, string, "Group and version, as objects say it."),
  version: field(2, string, "The version alone."),
});

const typeMeta = {
  kind: field(undefined, string, "Name of the document's kind."),
  apiVersion: field(undefined, string, "Version of the document's form."),
};

const Group = struct("APIGroup", "A group and its versions.", {
  ...typeMeta,
  name: field(1, string, "Name of the group."),
  versions: field(2, list(GroupVersion), "Its versions, the preferred one first."),
  preferredVersion: field(3, GroupVersion, "The version to prefer."),
  serverAddressByClientCIDRs: field(4, list(ServerAddress), "Where clients reach the server."),
});

/** In protobuf, verbs are a message of their own; in JSON they are a list. */
const Verbs = struct("Verbs", "The verbs that a resource type has.", {
  items: field(1, list(string), "The verbs."),
});

const ApiResource = struct("APIResource", "A resource type, or a subresource.", {
  name: field(1, string, "Plural name, or that of the resource type with that of the subresource."),
  singularName: field(6, string, "Singular name."),
  namespaced: field(2, bool, "Whether its objects are in namespaces."),
  group: field(8, string, "Group of its kind, where it is another one."),
  version: field(9, string, "Version of its kind, where it is another one."),
  kind: field(3, string, "Name of its kind."),
  verbs: field(4, Verbs, "What can be done with it.").nullable(),
  shortNames: field(5, list(string), "Short names."),
  categories: field(7, list(string), "Categories that it is a part of."),
  storageVersionHash: field(10, string, "Changes with the version in which objects are stored."),
});

/** The types of the discovery documents, by kind (spec: conventions 4.7). */
export const discoveryTypes: Readonly<Record<string, StructType>> = {
  APIVersions: struct("APIVersions", "The versions of the core group.", {
    ...typeMeta,
    versions: field(1, list(string), "The versions."),
    serverAddressByClientCIDRs: field(2, list(ServerAddress), "Where clients reach the server."),
  }),
  APIGroup: Group,
  APIGroupList: struct("APIGroupList", "The groups that are served.", {
    ...typeMeta,
    groups: field(1, list(Group), "The groups."),
  }),
  APIResourceList: struct("APIResourceList", "The resource types of a version of a group.", {
    ...typeMeta,
    groupVersion: field(1, string, "Group and version."),
    resources: field(2, list(ApiResource), "The resource types."),
  }),
};
