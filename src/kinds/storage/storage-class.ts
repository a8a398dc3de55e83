import { labelKey } from "../../vocabulary/names.ts";
import { byRelease, since } from "../../base/release-rows.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { unchanged, same } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { labelWarnings } from "../core/deprecated-labels.ts";
import { TopologySelectorTerm } from "../core/topology-selector.ts";
import { checkParameters, checkTopologies, provisionerName } from "./storage-class-rules.ts";
import { kind } from "./v1.ts";
import { type ObjectFor, type ObjectMetaValue } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, list, map, string } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Reports the change of a member. */
const refuseChange = byRelease(
  (report: FieldReport, name: string) => report.forbidden(`updates to ${name} are forbidden.`),
  since("1.36", (report, _name, value?: unknown) => report.invalid(value, "field is immutable")),
);

export const StorageClass = kind({
  name: "StorageClass",
  resource: "storageclasses",
  singular: "storageclass",
  shortNames: ["sc"],
  scope: "Cluster",
  returnsDeletedObject: true,
  doc: "A class of storage for dynamically provisioned volumes.",
  effect: {
    enforced:
      "new claims without a class get the default one (plugin DefaultStorageClass); claims grow only where their class allows it (plugin PersistentVolumeClaimResize)",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the class.").emitEmpty(),
    provisioner: field(2, string, "Name of the provisioner that creates the volumes.")
      .required()
      .check(provisionerName),
    parameters: field(3, map(string), "Parameters for the provisioner.").check(checkParameters),
    reclaimPolicy: field(
      4,
      string,
      "Reclaim policy of a volume after its claim is deleted: Delete, Retain or Recycle. Default: Delete.",
    )
      .nullable()
      .oneOf("Delete", "Recycle", "Retain")
      .checkedWhenEmpty(false)
      .unpublishedDefault("Delete"),
    mountOptions: field(
      5,
      list(string),
      "Mount options of the volumes; the server does not check them.",
    ).atomic(),
    allowVolumeExpansion: field(6, bool, "Whether claims of the class can be expanded.").nullable(),
    volumeBindingMode: field(
      7,
      string,
      "Time of provisioning and binding: Immediate, or WaitForFirstConsumer for when a pod needs it. Default: Immediate.",
    )
      .nullable()
      .oneOf("Immediate", "WaitForFirstConsumer")
      .unpublishedDefault("Immediate"),
    allowedTopologies: field(
      8,
      list(TopologySelectorTerm),
      "Topologies in which volumes can be provisioned; empty for no restriction.",
    ).atomic(),
  },
  validate(storageClass, report) {
    if (storageClass.reclaimPolicy === "Recycle") {
      report.at("reclaimPolicy").notSupported("Recycle", ["Delete", "Retain"]);
    }
    checkTopologies(storageClass.allowedTopologies ?? [], report.at("allowedTopologies"));
  },
  validateUpdate(storageClass, live, report, context) {
    for (const name of ["parameters", "provisioner", "reclaimPolicy"] as const) {
      if (same(storageClass[name], live[name])) continue;
      refuseChange(context)(report.at(name), name, storageClass[name]);
    }
    unchanged(storageClass.volumeBindingMode, live.volumeBindingMode, report.at("volumeBindingMode"));
  },
  warnings: ({ allowedTopologies = [] }, { vocabulary }) =>
    allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
      matchLabelExpressions.flatMap(({ key }, at) =>
        labelWarnings(`allowedTopologies[${index}].matchLabelExpressions[${at}].key`, key, vocabulary),
      ),
    ),
  columns: [
    {
      ...nameColumn,
      cell: ({ metadata }, _now, vocabulary) =>
        isDefaultClass(metadata, vocabulary) ? `${metadata.name} (default)` : (metadata.name ?? ""),
    },
    {
      name: "Provisioner",
      type: "string",
      doc: "Name of the provisioner that creates the volumes.",
      cell: ({ provisioner }) => provisioner,
    },
    {
      name: "ReclaimPolicy",
      type: "string",
      doc: "Reclaim policy of a volume after its claim is deleted.",
      cell: ({ reclaimPolicy }) => reclaimPolicy ?? "Delete",
    },
    {
      name: "VolumeBindingMode",
      type: "string",
      doc: "Time of provisioning and binding volumes.",
      cell: ({ volumeBindingMode }) => volumeBindingMode ?? "Immediate",
    },
    {
      name: "AllowVolumeExpansion",
      type: "string",
      doc: "Whether claims of the class can be expanded.",
      cell: ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
    },
    ageColumn,
  ],
});
export type StorageClass = ObjectFor<typeof StorageClass>;

/** Returns true if claims without a class get this one. */
function isDefaultClass({ annotations }: ObjectMetaValue, { domain }: Vocabulary): boolean {
  return ["storageclass", "storageclass.beta"].some(
    (prefix) => annotations?.[labelKey(domain, "is-default-class", prefix)] === "true",
  );
}
