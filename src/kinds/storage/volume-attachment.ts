import { since, until, byRelease } from "../../base/release-rows.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { dnsSubdomain, storageDriverName } from "../checks/names.ts";
import { same } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { PersistentVolumeSpec } from "../core/persistent-volume-spec.ts";
import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, map, string, time, type Static } from "../../schema/types.ts";
import type { KindContext } from "../../schema/context.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import { checkInlineVolumeSpec } from "../core/persistent-volume-rules.ts";
import { checkSizes } from "./storage-class-rules.ts";

interface Attachment {
  readonly attacher: string;
  readonly nodeName: string;
  readonly source: {
    readonly persistentVolumeName?: string | undefined;
    readonly inlineVolumeSpec?: PersistentVolumeSpec | undefined;
  };
}

/** Checks the name of the driver; earlier releases check its form in new attachments only. */
const checkAttacher = byRelease(requireName, since("1.36", storageDriverName));

function requireName(name: string, report: FieldReport): void {
  if (name === "") report.required();
}

/** Checks the spec of an attachment. */
function checkAttachment(
  { attacher, nodeName, source }: Attachment,
  report: FieldReport,
  context: KindContext,
): void {
  checkAttacher(context)(attacher, report.at("attacher"), context);
  const here = report.at("source");
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = source;
  const oneOfBoth = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (name === undefined && inline === undefined) here.required(oneOfBoth);
  else if (name !== undefined && inline !== undefined) here.forbidden(oneOfBoth);
  else if (inline !== undefined) checkInlineVolumeSpec(inline, here.at("inlineVolumeSpec"));
  else if (name === "")
    here.at("persistentVolumeName").required("must specify non empty persistentVolumeName");
  for (const message of dnsSubdomainFaults(nodeName)) report.at("nodeName").invalid(nodeName, message);
}

const maxMessageBytes = 1024;

interface AttachmentStatus {
  readonly attachmentMetadata?: Readonly<Record<string, string>> | undefined;
  readonly attachError?: { readonly message?: string | undefined } | undefined;
  readonly detachError?: { readonly message?: string | undefined } | undefined;
}

/** Limits the sizes in the status of an attachment. */
function checkAttachmentStatus(status: AttachmentStatus, report: FieldReport): void {
  checkSizes(Object.entries(status.attachmentMetadata ?? {}), report.at("attachmentMetadata"));
  for (const name of ["attachError", "detachError"] as const) {
    const bytes = Buffer.byteLength(status[name]?.message ?? "");
    if (bytes > maxMessageBytes) report.at(name, "message").tooLong(maxMessageBytes);
  }
}

const VolumeAttachmentSource = struct(
  "VolumeAttachmentSource",
  "The volume to attach; exactly one field is set.",
  {
    persistentVolumeName: field(1, string, "Name of the PersistentVolume.").nullable(),
    inlineVolumeSpec: field(
      2,
      PersistentVolumeSpec,
      "Specification of a volume that a pod defines inline.",
    ).nullable(),
  },
);

const VolumeAttachmentSpec = struct(
  "VolumeAttachmentSpec",
  "The volume to attach, the driver and the node.",
  {
    attacher: field(1, string, "Name of the driver that attaches the volume.").declaredRequired(),
    source: field(2, VolumeAttachmentSource, "The volume to attach.").declaredRequired(),
    nodeName: field(3, string, "Name of the node to which the volume is attached.").declaredRequired(),
  },
);

const VolumeError = struct(
  "VolumeError",
  "An error of attaching or detaching a volume.",
  {
    time: field(1, time, "Time of the error.").emitEmpty(),
    message: field(2, string, "Details of the error, without secrets."),
  },
  {
    later: () => ({
      errorCode: since(
        "1.33",
        field(3, int32, "Error code of the driver (gRPC).")
          .nullable()
          .gated("MutableCSINodeAllocatableCount"),
      ),
    }),
  },
);

const VolumeAttachmentStatus = struct("VolumeAttachmentStatus", "Observed state of a VolumeAttachment.", {
  attached: field(1, bool, "Whether the volume is attached.").declaredRequired(),
  attachmentMetadata: field(2, map(string), "Information from the attacher for mounting the volume."),
  attachError: field(3, VolumeError, "Last error of attaching the volume.").nullable(),
  detachError: field(4, VolumeError, "Last error of detaching the volume.").nullable(),
});

interface WithAttachment {
  readonly spec: Static<typeof VolumeAttachmentSpec>;
}

function checkNewAttacher({ spec }: WithAttachment, report: FieldReport): void {
  storageDriverName(spec.attacher, report.at("spec", "attacher"));
}

function checkVolumeName({ spec }: WithAttachment, report: FieldReport): void {
  const { persistentVolumeName: name } = spec.source;
  if (name !== undefined) dnsSubdomain(name, report.at("spec", "source", "persistentVolumeName"));
}

export const VolumeAttachment = kind({
  name: "VolumeAttachment",
  resource: "volumeattachments",
  singular: "volumeattachment",
  scope: "Cluster",
  returnsDeletedObject: true,
  allowUnconditionalUpdate: false,
  doc: "Requests that a volume be attached to a node, and reports the state.",
  effect: {
    enforced: "the authorization mode Node allows the agent of its node to read it",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the attachment.").emitEmpty(),
    spec: field(2, VolumeAttachmentSpec, "The volume to attach, the driver and the node.").declaredRequired(),
    status: field(3, VolumeAttachmentStatus, "Observed state of the attachment.").emitEmpty(),
  },
  validate(attachment, report, context) {
    checkAttachment(attachment.spec, report.at("spec"), context);
    checkAttachmentStatus(attachment.status ?? { attached: false }, report.at("status"));
  },
  validateCreate: [until("1.36", checkNewAttacher), checkVolumeName],
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
      doc: "Name of the driver that attaches the volume.",
      cell: ({ spec }) => spec.attacher,
    },
    {
      name: "PV",
      type: "string",
      doc: "Name of the PersistentVolume.",
      cell: ({ spec }) => spec.source.persistentVolumeName ?? "",
    },
    {
      name: "Node",
      type: "string",
      doc: "Name of the node to which the volume is attached.",
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
