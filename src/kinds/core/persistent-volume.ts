import { kind } from "./v1.ts";
import type { KindContext } from "../../schema/context.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field } from "../../schema/types.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { classOf, modesText } from "./access-modes.ts";
import {
  checkDriverSecrets,
  checkVolumeSpec,
  checkVolumeUpdate,
  volumeWarnings,
} from "./persistent-volume-rules.ts";
import { attributesClassColumn } from "./attributes-class-column.ts";
import { phaseText } from "./phase-text.ts";
import { PersistentVolumeSpec, PersistentVolumeStatus } from "./persistent-volume-spec.ts";

export const PersistentVolume = kind({
  name: "PersistentVolume",
  resource: "persistentvolumes",
  singular: "persistentvolume",
  shortNames: ["pv"],
  scope: "Cluster",
  returnsDeletedObject: true,
  doc: "A piece of storage that exists independently of the pods that use it.",
  effect: {
    enforced: "the authorization mode Node allows agents to read the secrets of volumes that their pods use",
    acts: "`pv-protection` lets a deleted volume go when it is bound no more",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the volume.").emitEmpty(),
    spec: field(2, PersistentVolumeSpec, "Capacity, access and storage of the volume.").emitEmpty(),
    status: field(3, PersistentVolumeStatus, "Observed state of the volume.").emitEmpty().unchecked(),
  },
  fillDefaults(copy) {
    copy.spec = { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem", ...copy.spec };
    copy.status = { phase: "Pending", ...copy.status };
  },
  validate(volume, report) {
    checkVolumeSpec(volume.spec ?? {}, report.at("spec"));
  },
  validateCreate(volume, report) {
    checkDriverSecrets(volume.spec ?? {}, undefined, report.at("spec"));
  },
  validateUpdate(volume, live, report, { vocabulary }) {
    checkDriverSecrets(volume.spec ?? {}, live.spec ?? {}, report.at("spec"));
    checkVolumeUpdate(volume.spec ?? {}, live.spec ?? {}, report, vocabulary);
  },
  warnings: (volume, context) => volumeWarnings(volume.spec ?? {}, volume.metadata.annotations, context),
  status: {
    initial: (_volume, context) => ({ phase: "Pending", ...transitionNow(context) }),
    write: ({ status }, live, context) => withTransition(status, live.status, context),
  },
  columns: [
    nameColumn,
    {
      name: "Capacity",
      type: "string",
      doc: "Capacity of the volume.",
      cell: ({ spec }) => spec?.capacity?.["storage"] ?? "0",
    },
    {
      name: "Access Modes",
      type: "string",
      doc: "Access modes that the volume supports.",
      cell: ({ spec }) => modesText(spec?.accessModes),
    },
    {
      name: "Reclaim Policy",
      type: "string",
      doc: "Reclaim policy of the volume after its claim is deleted.",
      cell: ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? "",
    },
    {
      name: "Status",
      type: "string",
      doc: "Phase of the volume.",
      cell: ({ metadata, status }) => phaseText(metadata, status),
    },
    {
      name: "Claim",
      type: "string",
      doc: "The claim to which the volume is bound.",
      cell: ({ spec }) =>
        spec?.claimRef === undefined ? "" : `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}`,
    },
    {
      name: "StorageClass",
      type: "string",
      doc: "Name of the StorageClass.",
      cell: ({ metadata, spec }, _now, vocabulary) =>
        classOf(metadata.annotations, spec?.storageClassName, vocabulary),
    },
    attributesClassColumn,
    {
      name: "Reason",
      type: "string",
      doc: "Reason for a failure of the volume.",
      cell: ({ status }) => status?.reason ?? "",
    },
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
export type PersistentVolume = ObjectFor<typeof PersistentVolume>;

const transitionGate = "PersistentVolumeLastPhaseTransitionTime";

/** The time of a phase that begins now, if volumes have it. */
function transitionNow({ enabled, now }: KindContext): { lastPhaseTransitionTime?: string } {
  if (now === undefined || !enabled(transitionGate)) return {};
  return { lastPhaseTransitionTime: new Date(now).toISOString().replace(/\.\d+Z$/, "Z") };
}

interface Phase {
  phase?: string | undefined;
  lastPhaseTransitionTime?: string | undefined;
}

/** Returns a written status with the time at which its phase began, unless the request has another time. */
function withTransition<S extends Phase>(
  status: S | undefined,
  live: Phase | undefined,
  context: KindContext,
): S | undefined {
  if (status === undefined || !context.enabled(transitionGate)) return status;
  const { lastPhaseTransitionTime: time } = status;
  const before = live?.lastPhaseTransitionTime;
  if (status.phase !== live?.phase)
    return time === undefined || time === before ? { ...status, ...transitionNow(context) } : status;
  return time === undefined && before !== undefined ? { ...status, lastPhaseTransitionTime: before } : status;
}
