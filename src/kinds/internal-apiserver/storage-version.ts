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
  "Versions that one server stores and can decode.",
  {
    apiServerID: field(1, string, "Identifier of the server."),
    encodingVersion: field(2, string, "Version in which the server stores objects."),
    decodableVersions: field(3, list(string), "Versions that the server can decode.").set(),
  },
  { check: checkServer },
);

const StorageVersionCondition = struct("StorageVersionCondition", "A condition of a StorageVersion.", {
  type: field(1, string, "Type of the condition, such as AllEncodingVersionsEqual.")
    .declaredRequired()
    .knownValues("AllEncodingVersionsEqual"),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  observedGeneration: field(3, int64, "Generation for which the condition was set."),
  lastTransitionTime: field(4, time, "Time of the last change of `status`.").emitEmpty(),
  reason: field(5, string, "Machine-readable reason in CamelCase.").declaredRequired(),
  message: field(6, string, "Human-readable details."),
});

const StorageVersionStatus = struct(
  "StorageVersionStatus",
  "Versions that the servers store and can decode.",
  {
    storageVersions: field(1, list(ServerStorageVersion), "Versions of each server.")
      .mapBy("apiServerID")
      .check(uniqueBy((one) => one.apiServerID, "apiServerID")),
    commonEncodingVersion: field(
      2,
      string,
      "Version in which all servers store objects; absent if they differ.",
    ).nullable(),
    conditions: field(
      3,
      list(StorageVersionCondition),
      "Conditions of the object, at most one per type.",
    ).mapBy("type"),
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
  doc: "The versions in which servers store the objects of one resource.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; its name is `group.resource`.").emitEmpty(),
    spec: field(2, StorageVersionSpec, "Empty object; the versions are in the status.").required(),
    status: field(3, StorageVersionStatus, "Versions that the servers store and can decode.").required(),
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
      doc: "Version in which all servers store objects.",
      cell: ({ status }) => status.commonEncodingVersion ?? "<unset>",
    },
    {
      name: "StorageVersions",
      type: "string",
      doc: "Version in which each server stores objects.",
      cell: ({ status }) => versionsText(status.storageVersions ?? []),
    },
    ageColumn,
  ],
});
export type StorageVersion = ObjectFor<typeof StorageVersion>;
