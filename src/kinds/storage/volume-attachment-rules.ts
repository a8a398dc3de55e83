import { byRelease, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import { storageDriverName } from "../checks/names.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { checkInlineVolumeSpec } from "../core/persistent-volume-rules.ts";
import type { PersistentVolumeSpec } from "../core/persistent-volume-spec.ts";
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
export function checkAttachment(
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
export function checkAttachmentStatus(status: AttachmentStatus, report: FieldReport): void {
  checkSizes(Object.entries(status.attachmentMetadata ?? {}), report.at("attachmentMetadata"));
  for (const name of ["attachError", "detachError"] as const) {
    const bytes = Buffer.byteLength(status[name]?.message ?? "");
    if (bytes > maxMessageBytes) report.at(name, "message").tooLong(maxMessageBytes);
  }
}
