import { accessModes } from "./access-modes.ts";
import { dnsSubdomain } from "../checks/names.ts";
import { roundUpToMilli } from "../quantities.ts";
import { NodeSelector } from "./node-selector.ts";
import { ObjectReference } from "./references.ts";
import { struct } from "./v1.ts";
import {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFilePersistentVolumeSource,
  CinderPersistentVolumeSource,
  GCEPersistentDiskVolumeSource,
  PhotonPersistentDiskVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from "./volumes/cloud-disks.ts";
import { CSIPersistentVolumeSource } from "./volumes/csi.ts";
import { HostPathVolumeSource } from "./volumes/files.ts";
import {
  CephFSPersistentVolumeSource,
  FCVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  NFSVolumeSource,
  RBDPersistentVolumeSource,
} from "./volumes/network-storage.ts";
import {
  FlexPersistentVolumeSource,
  FlockerVolumeSource,
  LocalVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  ScaleIOPersistentVolumeSource,
  StorageOSPersistentVolumeSource,
} from "./volumes/plugin-storage.ts";
import { since } from "../../schema/later-fields.ts";
import { type Static, field, inlined, list, map, quantity, string, time } from "../../schema/types.ts";

const PersistentVolumeSource = struct(
  "PersistentVolumeSource",
  "Where a persistent volume lies; exactly one member is given.",
  {
    gcePersistentDisk: field(1, GCEPersistentDiskVolumeSource, "A GCE disk.").nullable(),
    awsElasticBlockStore: field(2, AWSElasticBlockStoreVolumeSource, "An AWS disk.").nullable(),
    hostPath: field(
      3,
      HostPathVolumeSource,
      "A folder of the node itself; for tests on one node.",
    ).nullable(),
    glusterfs: field(4, GlusterfsPersistentVolumeSource, "A Glusterfs volume.").nullable(),
    nfs: field(5, NFSVolumeSource, "A folder that an NFS server exports.").nullable(),
    rbd: field(6, RBDPersistentVolumeSource, "A Rados block device.").nullable(),
    iscsi: field(7, ISCSIPersistentVolumeSource, "An iSCSI disk.").nullable(),
    cinder: field(8, CinderPersistentVolumeSource, "A Cinder volume.").nullable(),
    cephfs: field(9, CephFSPersistentVolumeSource, "A Ceph file system.").nullable(),
    fc: field(10, FCVolumeSource, "A Fibre Channel disk.").nullable(),
    flocker: field(11, FlockerVolumeSource, "A Flocker volume.").nullable(),
    flexVolume: field(
      12,
      FlexPersistentVolumeSource,
      "A volume that an external program provides.",
    ).nullable(),
    azureFile: field(13, AzureFilePersistentVolumeSource, "An Azure file share.").nullable(),
    vsphereVolume: field(14, VsphereVirtualDiskVolumeSource, "A vSphere volume.").nullable(),
    quobyte: field(15, QuobyteVolumeSource, "A Quobyte volume.").nullable(),
    azureDisk: field(16, AzureDiskVolumeSource, "An Azure data disk.").nullable(),
    photonPersistentDisk: field(17, PhotonPersistentDiskVolumeSource, "A Photon Controller disk.").nullable(),
    portworxVolume: field(18, PortworxVolumeSource, "A Portworx volume.").nullable(),
    scaleIO: field(19, ScaleIOPersistentVolumeSource, "A ScaleIO volume.").nullable(),
    local: field(20, LocalVolumeSource, "A disk that is part of one node.").nullable(),
    storageos: field(21, StorageOSPersistentVolumeSource, "A StorageOS volume.").nullable(),
    csi: field(22, CSIPersistentVolumeSource, "A volume of an external CSI driver.").nullable(),
  },
);

const VolumeNodeAffinity = struct("VolumeNodeAffinity", "Nodes from which a volume can be reached.", {
  required: field(1, NodeSelector, "The node must match this.").nullable(),
});

export const PersistentVolumeSpec = struct(
  "PersistentVolumeSpec",
  "What a persistent volume should be.",
  {
    capacity: field(1, map(quantity), "How much the volume holds."),
    ...inlined(2, PersistentVolumeSource),
    accessModes: field(3, list(string), "In which ways the volume can be mounted.")
      .atomic()
      .oneOf(...accessModes),
    claimRef: field(4, ObjectReference, "The claim that the volume is bound to.").nullable().granular(),
    persistentVolumeReclaimPolicy: field(
      5,
      string,
      "What becomes of the volume when its claim lets it go.",
    ).oneOf("Delete", "Recycle", "Retain"),
    storageClassName: field(6, string, "Class of the volume; empty for none.").check(dnsSubdomain),
    mountOptions: field(
      7,
      list(string),
      "Options with which the volume is mounted; they aren't checked.",
    ).atomic(),
    volumeMode: field(8, string, "Whether the volume has a file system or is a raw block device.")
      .nullable()
      .oneOf("Block", "Filesystem"),
    nodeAffinity: field(9, VolumeNodeAffinity, "Nodes from which the volume can be reached.").nullable(),
  },
  {
    fill: (spec) => roundUpToMilli(spec.capacity),
    later: () => ({
      volumeAttributesClassName: since(
        "1.29",
        field(10, string, "Class of the attributes of the volume.")
          .nullable()
          .check(dnsSubdomain)
          .gated("VolumeAttributesClass"),
      ),
    }),
  },
);
export type PersistentVolumeSpec = Static<typeof PersistentVolumeSpec>;

export const PersistentVolumeStatus = struct(
  "PersistentVolumeStatus",
  "What a persistent volume is like now.",
  {
    phase: field(1, string, "Where the volume is in its life.").oneOf(
      "Available",
      "Bound",
      "Failed",
      "Pending",
      "Released",
    ),
    message: field(2, string, "Explanation of the phase for people."),
    reason: field(3, string, "Short reason for programs, when something failed."),
  },
  {
    later: () => ({
      lastPhaseTransitionTime: since(
        "1.28",
        field(4, time, "When the phase last changed.")
          .nullable()
          .gated("PersistentVolumeLastPhaseTransitionTime"),
      ),
    }),
  },
);
