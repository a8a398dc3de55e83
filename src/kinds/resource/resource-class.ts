import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string } from "../../schema/types.ts";
import { dnsLabel, storageDriverName } from "../checks/names.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { NodeSelector } from "../core/node-selector.ts";

const ResourceClassParametersReference = struct(
  "ResourceClassParametersReference",
  "Reference to an object with parameters of a class.",
  {
    apiGroup: field(1, string, "API group of the object; empty for the core group."),
    kind: field(2, string, "Kind of the object.").required(),
    name: field(3, string, "Name of the object.").required(),
    namespace: field(4, string, "Namespace of the object; empty if it is cluster-scoped.").check(dnsLabel),
  },
);

export const ResourceClass = kind({
  name: "ResourceClass",
  resource: "resourceclasses",
  singular: "resourceclass",
  scope: "Cluster",
  returnsDeletedObject: true,
  servedByDefault: false,
  doc: "A class of resources and the driver that allocates them.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the class.").emitEmpty(),
    driverName: field(2, string, "Name of the driver that allocates the resources.")
      .required()
      .check(storageDriverName),
    parametersRef: field(
      3,
      ResourceClassParametersReference,
      "Object with parameters for the driver.",
    ).nullable(),
    suitableNodes: field(
      4,
      NodeSelector,
      "Nodes that can have the resources; absent for all nodes.",
    ).nullable(),
  },
  validate({ driverName }, report) {
    if (driverName === "") storageDriverName(driverName, report.at("driverName"));
  },
  columns: [
    nameColumn,
    {
      name: "DriverName",
      type: "string",
      doc: "Name of the driver that allocates the resources.",
      cell: ({ driverName }) => driverName,
    },
    ageColumn,
  ],
});
export type ResourceClass = ObjectFor<typeof ResourceClass>;
