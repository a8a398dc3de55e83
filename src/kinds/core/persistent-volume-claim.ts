import { since } from "../../base/release-rows.ts";
import { dnsSubdomain } from "../checks/names.ts";
import { labelSelector } from "../checks/selectors.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { roundUpToMilli } from "../quantities.ts";
import { accessModes, classOf, classWarnings, modesText } from "./access-modes.ts";
import {
  matchDataSources,
  checkAllocated,
  checkClaimSpec,
  checkClaimUpdate,
  fractionWarnings,
} from "./persistent-volume-claim-rules.ts";
import { attributesClassColumn } from "./attributes-class-column.ts";
import { phaseText } from "./phase-text.ts";
import { ResourceRequirements, roundRequirements } from "./pod/resources.ts";
import { VolumeHealthStatus } from "./pod/status-details.ts";
import { TypedLocalObjectReference, TypedObjectReference } from "./references.ts";
import { kind, struct } from "./v1.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { removedIn, replacedIn } from "../../schema/added-fields.ts";
import { type Static, field, list, map, quantity, string, time } from "../../schema/types.ts";

const VolumeResourceRequirements = struct(
  "VolumeResourceRequirements",
  "Storage limits and requests of a claim.",
  {
    limits: field(1, map(quantity), "Maximum capacity of the volume."),
    requests: field(2, map(quantity), "Minimum capacity of the volume."),
  },
  { fill: roundRequirements },
);

export const PersistentVolumeClaimSpec = struct(
  "PersistentVolumeClaimSpec",
  "The storage that a claim requests.",
  {
    accessModes: field(1, list(string), "Required access modes of the volume, such as ReadWriteOnce.")
      .atomic()
      .oneOf(...accessModes),
    // The amounts are of storage, unlike those of containers.
    resources: field(2, ResourceRequirements, "Minimum and maximum capacity of the volume.")
      .emitEmpty()
      .unchecked(),
    volumeName: field(3, string, "Name of the bound PersistentVolume."),
    selector: field(4, LabelSelector, "Label selector of the volumes that can be bound.")
      .nullable()
      .check(labelSelector),
    storageClassName: field(
      5,
      string,
      "Name of the StorageClass; empty for no class, absent for the default class.",
    )
      .nullable()
      .check(dnsSubdomain),
    volumeMode: field(
      6,
      string,
      "Volume mode: Filesystem, or Block for a raw block device. Default: Filesystem.",
    )
      .nullable()
      .oneOf("Block", "Filesystem")
      .unpublishedDefault("Filesystem"),
    dataSource: field(
      7,
      TypedLocalObjectReference,
      "Object in the namespace with the initial content of the volume, such as a snapshot.",
    ).nullable(),
    dataSourceRef: field(
      8,
      TypedObjectReference,
      "Like `dataSource`, but for any kind and, where allowed, other namespaces.",
    )
      .nullable()
      .gated("AnyVolumeDataSource"),
  },
  {
    check: checkClaimSpec,
    later: () => ({
      resources: replacedIn(
        "1.29",
        field(2, VolumeResourceRequirements, "Minimum and maximum capacity of the volume.")
          .emitEmpty()
          .unchecked(),
      ),
      volumeAttributesClassName: since(
        "1.29",
        field(9, string, "Name of the VolumeAttributesClass of the volume.")
          .nullable()
          .check(dnsSubdomain)
          .gated("VolumeAttributesClass"),
      ),
    }),
  },
);
export type PersistentVolumeClaimSpec = Static<typeof PersistentVolumeClaimSpec>;

const PersistentVolumeClaimCondition = struct("PersistentVolumeClaimCondition", "A condition of a claim.", {
  type: field(1, string, "Type of the condition, such as Resizing.")
    .declaredRequired()
    .knownValues("FileSystemResizePending", "Resizing"),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  lastProbeTime: field(3, time, "Time of the last check of the condition.").emitEmpty(),
  lastTransitionTime: field(4, time, "Time of the last change of `status`.").emitEmpty(),
  reason: field(5, string, "Machine-readable reason in CamelCase."),
  message: field(6, string, "Human-readable details."),
});

const ModifyVolumeStatus = struct("ModifyVolumeStatus", "Progress of a change of the volume's attributes.", {
  targetVolumeAttributesClassName: field(1, string, "Name of the VolumeAttributesClass to apply."),
  status: field(2, string, "Status of the change: Pending, InProgress or Infeasible.")
    .declaredRequired()
    .knownValues("InProgress", "Infeasible", "Pending"),
});

const PersistentVolumeClaimStatus = struct(
  "PersistentVolumeClaimStatus",
  "Observed state of a claim.",
  {
    phase: field(1, string, "Phase of the claim: Pending, Bound or Lost.").oneOf("Bound", "Lost", "Pending"),
    accessModes: field(2, list(string), "Access modes of the bound volume, such as ReadWriteOnce.")
      .atomic()
      .oneOf(...accessModes),
    capacity: field(3, map(quantity), "Capacity of the bound volume."),
    conditions: field(
      4,
      list(PersistentVolumeClaimCondition),
      "Conditions of the claim, at most one per type.",
    )
      .mapBy("type")
      .patchMerge("type"),
    allocatedResources: field(
      5,
      map(quantity),
      "Capacity allocated to the claim; greater than `capacity` during an expansion.",
    ).gated("RecoverVolumeExpansionFailure"),
    resizeStatus: field(
      6,
      string,
      "Status of the volume's expansion, such as NodeExpansionPending; empty if there is none.",
    )
      .nullable()
      .oneOf(
        "",
        "ControllerExpansionFailed",
        "ControllerExpansionInProgress",
        "NodeExpansionFailed",
        "NodeExpansionInProgress",
        "NodeExpansionPending",
      )
      .gated("RecoverVolumeExpansionFailure"),
  },
  {
    fill(status) {
      roundUpToMilli(status.capacity);
      roundUpToMilli(status.allocatedResources);
    },
    later: () => ({
      resizeStatus: removedIn("1.28"),
      allocatedResourceStatuses: since(
        "1.28",
        field(7, map(string), "Status of the expansion of each resource.")
          .granular()
          .gated("RecoverVolumeExpansionFailure"),
      ),
      currentVolumeAttributesClassName: since(
        "1.29",
        field(8, string, "Name of the VolumeAttributesClass that the volume currently has.")
          .nullable()
          .gated("VolumeAttributesClass"),
      ),
      modifyVolumeStatus: since(
        "1.29",
        field(9, ModifyVolumeStatus, "Progress of a change of the volume's attributes.")
          .nullable()
          .gated("VolumeAttributesClass"),
      ),
      healthStatus: since(
        "1.37",
        field(10, VolumeHealthStatus, "Health of the volume.").nullable().gated("CSIVolumeHealth"),
      ),
    }),
  },
);

export const PersistentVolumeClaim = kind({
  name: "PersistentVolumeClaim",
  resource: "persistentvolumeclaims",
  singular: "persistentvolumeclaim",
  shortNames: ["pvc"],
  scope: "Namespaced",
  returnsDeletedObject: true,
  doc: "A request for storage, and its binding to a volume.",
  effect: { acts: "`pvc-protection` lets a deleted claim go when no pod uses it" },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the claim.").emitEmpty(),
    spec: field(2, PersistentVolumeClaimSpec, "The storage that the claim requests.").emitEmpty(),
    status: field(3, PersistentVolumeClaimStatus, "Observed state of the claim.").emitEmpty().unchecked(),
  },
  fillDefaults(copy) {
    copy.status = { phase: "Pending", ...copy.status };
  },
  prepareCreate(copy, context) {
    if (copy.spec !== undefined) matchDataSources(copy.spec, {}, context);
  },
  prepareUpdate(copy, live, context) {
    if (copy.spec !== undefined) matchDataSources(copy.spec, live.spec ?? {}, context);
  },
  validate(claim, report) {
    checkAllocated(claim.status ?? {}, report.at("status"));
  },
  validateUpdate(claim, live, report, context) {
    // Writes to the subresource `status` can't change the spec.
    if (context.subresource === "") checkClaimUpdate(claim, live, report, context);
  },
  warnings: ({ metadata, spec }, { vocabulary }) => [
    ...classWarnings(metadata.annotations, vocabulary),
    ...fractionWarnings(spec?.resources ?? {}),
  ],
  status: {
    initial: () => ({ phase: "Pending" }),
  },
  columns: [
    nameColumn,
    {
      name: "Status",
      type: "string",
      doc: "Phase of the claim: Pending, Bound or Lost.",
      cell: ({ metadata, status }) => phaseText(metadata, status),
    },
    {
      name: "Volume",
      type: "string",
      doc: "Name of the bound PersistentVolume.",
      cell: ({ spec }) => spec?.volumeName ?? "",
    },
    {
      name: "Capacity",
      type: "string",
      doc: "Capacity of the bound volume.",
      cell: ({ spec, status }) =>
        (spec?.volumeName ?? "") === "" ? "" : (status?.capacity?.["storage"] ?? "0"),
    },
    {
      name: "Access Modes",
      type: "string",
      doc: "Access modes of the bound volume, such as ReadWriteOnce.",
      cell: ({ spec, status }) => ((spec?.volumeName ?? "") === "" ? "" : modesText(status?.accessModes)),
    },
    {
      name: "StorageClass",
      type: "string",
      doc: "Name of the StorageClass.",
      cell: ({ metadata, spec }, _now, vocabulary) =>
        classOf(metadata.annotations, spec?.storageClassName, vocabulary),
    },
    attributesClassColumn,
    ageColumn,
    {
      name: "VolumeMode",
      type: "string",
      priority: 1,
      doc: "Volume mode: Filesystem, or Block for a raw block device.",
      cell: ({ spec }) => spec?.volumeMode ?? "<unset>",
    },
  ],
});
export type PersistentVolumeClaim = ObjectFor<typeof PersistentVolumeClaim>;
