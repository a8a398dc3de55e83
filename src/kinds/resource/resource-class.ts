import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string } from "../../schema/types.ts";
import { dnsLabel, storageDriverName } from "../checks/names.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { NodeSelector } from "../core/node-selector.ts";

const ResourceClassParametersReference = struct(
  "ResourceClassParametersReference",
  "Names an object with the parameters of a class.",
  {
    apiGroup: field(1, string, "Group of the object's kind; empty for the core group."),
    kind: field(2, string, "Kind of the object.").required(),
    name: field(3, string, "Name of the object.").required(),
    namespace: field(4, string, "Namespace of the object; absent for cluster-wide ones.").check(dnsLabel),
  },
);

export const ResourceClass = kind({
  name: "ResourceClass",
  resource: "resourceclasses",
  singular: "resourceclass",
  scope: "Cluster",
  returnsDeletedObject: true,
  servedByDefault: false,
  doc: "Says who provides a sort of resources.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the class.").emitEmpty(),
    driverName: field(2, string, "Name of the driver that provides the resources.")
      .required()
      .check(storageDriverName),
    parametersRef: field(
      3,
      ResourceClassParametersReference,
      "The object with parameters for the driver.",
    ).nullable(),
    suitableNodes: field(4, NodeSelector, "Nodes on which such resources can be; absent for all.").nullable(),
  },
  validate({ driverName }, report) {
    if (driverName === "") storageDriverName(driverName, report.at("driverName"));
  },
  columns: [
    nameColumn,
    {
      name: "DriverName",
      type: "string",
      doc: "Driver that provides the resources.",
      cell: ({ driverName }) => driverName,
    },
    ageColumn,
  ],
});
export type ResourceClass = ObjectFor<typeof ResourceClass>;
