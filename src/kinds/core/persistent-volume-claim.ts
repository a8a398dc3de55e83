import { dnsSubdomain } from "../checks/names.ts";
import { labelSelector } from "../checks/selectors.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { roundUpToMilli } from "../quantities.ts";
import { accessModes, classOf, classWarnings, modesText } from "./access-modes.ts";
import { matchDataSources } from "./data-sources.ts";
import {
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
import { removedIn, replacedIn, since } from "../../schema/later-fields.ts";
import { type Static, field, list, map, quantity, string, time } from "../../schema/types.ts";

const VolumeResourceRequirements = struct(
  "VolumeResourceRequirements",
  "The storage that a claim needs and allows.",
  {
    limits: field(1, map(quantity), "The most that the volume may hold."),
    requests: field(2, map(quantity), "The least that the volume must hold."),
  },
  { fill: roundRequirements },
);

export const PersistentVolumeClaimSpec = struct(
  "PersistentVolumeClaimSpec",
  "What a claim asks for.",
  {
    accessModes: field(1, list(string), "Ways of mounting that the volume must allow.")
      .atomic()
      .oneOf(...accessModes),
    // The amounts are of storage, unlike those of containers.
    resources: field(2, ResourceRequirements, "The least that the volume must hold.").emitEmpty().unchecked(),
    volumeName: field(3, string, "The volume that the claim is bound to."),
    selector: field(4, LabelSelector, "Volumes that may be bound to the claim.")
      .nullable()
      .check(labelSelector),
    storageClassName: field(5, string, "Class of the storage that is asked for; empty for none.")
      .nullable()
      .check(dnsSubdomain),
    volumeMode: field(6, string, "Whether a file system or a raw block device is asked for.")
      .nullable()
      .oneOf("Block", "Filesystem")
      .unpublishedDefault("Filesystem"),
    dataSource: field(
      7,
      TypedLocalObjectReference,
      "An object of the namespace with which the volume is filled at first.",
    ).nullable(),
    dataSourceRef: field(
      8,
      TypedObjectReference,
      "As dataSource, for objects of any kind, and where allowed of other namespaces.",
    )
      .nullable()
      .gated("AnyVolumeDataSource"),
  },
  {
    check: checkClaimSpec,
    later: () => ({
      resources: replacedIn(
        "1.29",
        field(2, VolumeResourceRequirements, "The least that the volume must hold.").emitEmpty().unchecked(),
      ),
      volumeAttributesClassName: since(
        "1.29",
        field(9, string, "Class of the attributes of the volume.")
          .nullable()
          .check(dnsSubdomain)
          .gated("VolumeAttributesClass"),
      ),
    }),
  },
);
export type PersistentVolumeClaimSpec = Static<typeof PersistentVolumeClaimSpec>;

const PersistentVolumeClaimCondition = struct(
  "PersistentVolumeClaimCondition",
  "One aspect of a claim's state.",
  {
    type: field(1, string, "What the condition is about.")
      .declaredRequired()
      .knownValues("FileSystemResizePending", "Resizing"),
    status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
    lastProbeTime: field(3, time, "When the condition was last looked at.").emitEmpty(),
    lastTransitionTime: field(4, time, "When the status last changed.").emitEmpty(),
    reason: field(5, string, "Short reason for programs."),
    message: field(6, string, "Explanation for people."),
  },
);

const ModifyVolumeStatus = struct("ModifyVolumeStatus", "State of a change of a volume's attributes.", {
  targetVolumeAttributesClassName: field(1, string, "Class of the attributes that the volume gets."),
  status: field(2, string, "State of the change.")
    .declaredRequired()
    .knownValues("InProgress", "Infeasible", "Pending"),
});

const PersistentVolumeClaimStatus = struct(
  "PersistentVolumeClaimStatus",
  "What a claim is like now.",
  {
    phase: field(1, string, "Where the claim is in its life.").oneOf("Bound", "Lost", "Pending"),
    accessModes: field(2, list(string), "Ways of mounting that the bound volume allows.")
      .atomic()
      .oneOf(...accessModes),
    capacity: field(3, map(quantity), "How much the bound volume holds."),
    conditions: field(4, list(PersistentVolumeClaimCondition), "What is known about the claim's state.")
      .mapBy("type")
      .patchMerge("type"),
    allocatedResources: field(
      5,
      map(quantity),
      "Storage set aside for the claim; while it grows it may exceed the capacity.",
    ).gated("RecoverVolumeExpansionFailure"),
    resizeStatus: field(6, string, "How far the growing of the volume has come.")
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
        field(7, map(string), "How far the growing of the volume is, by resource.")
          .granular()
          .gated("RecoverVolumeExpansionFailure"),
      ),
      currentVolumeAttributesClassName: since(
        "1.29",
        field(8, string, "Class of the attributes that the volume has.")
          .nullable()
          .gated("VolumeAttributesClass"),
      ),
      modifyVolumeStatus: since(
        "1.29",
        field(9, ModifyVolumeStatus, "State of a change of the attributes.")
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
  doc: "A request for storage, and the right to use what was bound to it.",
  effect: { acts: "`pvc-protection` lets a deleted claim go when no pod uses it" },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the claim.").emitEmpty(),
    spec: field(2, PersistentVolumeClaimSpec, "What the claim asks for.").emitEmpty(),
    status: field(3, PersistentVolumeClaimStatus, "What the claim is like now.").emitEmpty().unchecked(),
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
  laterColumns: [attributesClassColumn],
  columns: [
    nameColumn,
    {
      name: "Status",
      type: "string",
      doc: "Where the claim is in its life.",
      cell: ({ metadata, status }) => phaseText(metadata, status),
    },
    {
      name: "Volume",
      type: "string",
      doc: "The volume that the claim is bound to.",
      cell: ({ spec }) => spec?.volumeName ?? "",
    },
    {
      name: "Capacity",
      type: "string",
      doc: "How much the volume holds.",
      cell: ({ spec, status }) =>
        (spec?.volumeName ?? "") === "" ? "" : (status?.capacity?.["storage"] ?? "0"),
    },
    {
      name: "Access Modes",
      type: "string",
      doc: "In which ways the volume can be mounted.",
      cell: ({ spec, status }) => ((spec?.volumeName ?? "") === "" ? "" : modesText(status?.accessModes)),
    },
    {
      name: "StorageClass",
      type: "string",
      doc: "Class of the storage that is asked for.",
      cell: ({ metadata, spec }, _now, vocabulary) =>
        classOf(metadata.annotations, spec?.storageClassName, vocabulary),
    },
    ageColumn,
    {
      name: "VolumeMode",
      type: "string",
      priority: 1,
      doc: "Whether a file system or a raw block device is asked for.",
      cell: ({ spec }) => spec?.volumeMode ?? "<unset>",
    },
  ],
});
export type PersistentVolumeClaim = ObjectFor<typeof PersistentVolumeClaim>;
