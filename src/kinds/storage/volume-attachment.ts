import { isAtLeast } from "../../base/releases.ts";
import { dnsSubdomain, storageDriverName } from "../checks/names.ts";
import { same } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { PersistentVolumeSpec } from "../core/persistent-volume-spec.ts";
import { kind, struct } from "./v1.ts";
import { checkAttachment, checkAttachmentStatus } from "./volume-attachment-rules.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { since } from "../../schema/later-fields.ts";
import { bool, field, int32, map, string, time } from "../../schema/types.ts";

const VolumeAttachmentSource = struct(
  "VolumeAttachmentSource",
  "The volume that should be attached; exactly one member is given.",
  {
    persistentVolumeName: field(1, string, "Name of a persistent volume.").nullable(),
    inlineVolumeSpec: field(
      2,
      PersistentVolumeSpec,
      "The volume itself, for those that a pod names inline.",
    ).nullable(),
  },
);

const VolumeAttachmentSpec = struct("VolumeAttachmentSpec", "What should be attached where.", {
  attacher: field(1, string, "Driver that attaches the volume.").declaredRequired(),
  source: field(2, VolumeAttachmentSource, "The volume.").declaredRequired(),
  nodeName: field(3, string, "Node to which the volume is attached.").declaredRequired(),
});

const VolumeError = struct(
  "VolumeError",
  "What went wrong, and when.",
  {
    time: field(1, time, "When it went wrong.").emitEmpty(),
    message: field(2, string, "What went wrong; no secrets."),
  },
  {
    later: () => ({
      errorCode: since(
        "1.33",
        field(3, int32, "Code of the driver's error.").nullable().gated("MutableCSINodeAllocatableCount"),
      ),
    }),
  },
);

const VolumeAttachmentStatus = struct("VolumeAttachmentStatus", "How far the attachment has come.", {
  attached: field(1, bool, "Whether the volume is attached.").declaredRequired(),
  attachmentMetadata: field(2, map(string), "What the attacher tells those who mount the volume."),
  attachError: field(3, VolumeError, "The last failure to attach.").nullable(),
  detachError: field(4, VolumeError, "The last failure to detach.").nullable(),
});

export const VolumeAttachment = kind({
  name: "VolumeAttachment",
  resource: "volumeattachments",
  singular: "volumeattachment",
  scope: "Cluster",
  returnsDeletedObject: true,
  allowUnconditionalUpdate: false,
  doc: "The wish to attach a volume to a node, and what came of it.",
  effect: {
    enforced: "the authorization mode Node allows the agent of its node to read it",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the attachment.").emitEmpty(),
    spec: field(2, VolumeAttachmentSpec, "What should be attached where.").declaredRequired(),
    status: field(3, VolumeAttachmentStatus, "How far the attachment has come.").emitEmpty(),
  },
  validate(attachment, report, context) {
    checkAttachment(attachment.spec, report.at("spec"), context);
    checkAttachmentStatus(attachment.status ?? { attached: false }, report.at("status"));
  },
  validateCreate({ spec: { attacher, source } }, report, context) {
    if (!isAtLeast(context.release, "1.36")) storageDriverName(attacher, report.at("spec", "attacher"));
    const { persistentVolumeName: name } = source;
    if (name !== undefined) dnsSubdomain(name, report.at("spec", "source", "persistentVolumeName"));
  },
  validateUpdate(attachment, live, report) {
    if (!same(attachment.spec, live.spec)) report.at("spec").invalid(attachment.spec, "field is immutable");
  },
  status: {
    initial: () => ({ attached: false }),
    keepsMetadata: "all",
  },
  columns: [
    nameColumn,
    {
      name: "Attacher",
      type: "string",
      format: "name",
      doc: "Driver that attaches the volume.",
      cell: ({ spec }) => spec.attacher,
    },
    {
      name: "PV",
      type: "string",
      doc: "Name of the persistent volume.",
      cell: ({ spec }) => spec.source.persistentVolumeName ?? "",
    },
    {
      name: "Node",
      type: "string",
      doc: "Node to which the volume is attached.",
      cell: ({ spec }) => spec.nodeName,
    },
    {
      name: "Attached",
      type: "boolean",
      doc: "Whether the volume is attached.",
      cell: ({ status }) => status?.attached ?? false,
    },
    ageColumn,
  ],
});
export type VolumeAttachment = ObjectFor<typeof VolumeAttachment>;
