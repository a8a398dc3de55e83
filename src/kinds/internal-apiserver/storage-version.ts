import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int64, list, string, time } from "../../schema/types.ts";
import { uniqueBy } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkName, checkServer, checkStatus, versionsText } from "./storage-version-rules.ts";

const StorageVersionSpec = struct("StorageVersionSpec", "Empty; the versions are in the status.", {});

const ServerStorageVersion = struct(
  "ServerStorageVersion",
  "The versions that one server writes and reads.",
  {
    apiServerID: field(1, string, "Identifier of the server."),
    encodingVersion: field(2, string, "Version in which the server stores objects."),
    decodableVersions: field(3, list(string), "Versions that the server can read.").set(),
  },
  { check: checkServer },
);

const StorageVersionCondition = struct(
  "StorageVersionCondition",
  "One aspect of a storage version's state.",
  {
    type: field(1, string, "What the condition is about.")
      .declaredRequired()
      .knownValues("AllEncodingVersionsEqual"),
    status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
    observedGeneration: field(3, int64, "Generation of the object for which the condition was found."),
    lastTransitionTime: field(4, time, "When the status last changed.").emitEmpty(),
    reason: field(5, string, "Short reason for programs.").declaredRequired(),
    message: field(6, string, "Explanation for people."),
  },
);

const StorageVersionStatus = struct(
  "StorageVersionStatus",
  "The versions that all servers write and read.",
  {
    storageVersions: field(1, list(ServerStorageVersion), "The versions of each server.")
      .mapBy("apiServerID")
      .check(uniqueBy((one) => one.apiServerID, "apiServerID")),
    commonEncodingVersion: field(
      2,
      string,
      "The version that all servers write; absent where they differ.",
    ).nullable(),
    conditions: field(3, list(StorageVersionCondition), "What is known about its state.").mapBy("type"),
  },
  { check: checkStatus },
);

export const StorageVersion = kind({
  name: "StorageVersion",
  resource: "storageversions",
  singular: "storageversion",
  scope: "Cluster",
  allowUnconditionalUpdate: false,
  nameForm: "pathSegment",
  servedByDefault: false,
  doc: "In which versions the objects of one resource are stored.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; its name is `group.resource`.").emitEmpty(),
    spec: field(2, StorageVersionSpec, "Empty.").required(),
    status: field(3, StorageVersionStatus, "The versions that servers write and read.").required(),
  },
  validateCreate({ metadata: { name = "", generateName = "" } }, report) {
    if (name !== "") checkName(name, report.at("metadata", "name"));
    if (generateName !== "") checkName(generateName, report.at("metadata", "generateName"));
  },
  status: {
    initial: () => ({}),
    keepsMetadata: "all",
  },
  columns: [
    nameColumn,
    {
      name: "CommonEncodingVersion",
      type: "string",
      doc: "The version that all servers write.",
      cell: ({ status }) => status.commonEncodingVersion ?? "<unset>",
    },
    {
      name: "StorageVersions",
      type: "string",
      doc: "The version that each server writes.",
      cell: ({ status }) => versionsText(status.storageVersions ?? []),
    },
    ageColumn,
  ],
});
export type StorageVersion = ObjectFor<typeof StorageVersion>;
