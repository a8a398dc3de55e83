import { since } from "../../base/release-rows.ts";
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
import { type Static, field, inlined, list, map, quantity, string, time } from "../../schema/types.ts";

const PersistentVolumeSource = struct(
  "PersistentVolumeSource",
  "The storage of a persistent volume; exactly one field is set.",
  {
    gcePersistentDisk: field(1, GCEPersistentDiskVolumeSource, "A GCE persistent disk.").nullable(),
    awsElasticBlockStore: field(2, AWSElasticBlockStoreVolumeSource, "An AWS EBS volume.").nullable(),
    hostPath: field(
      3,
      HostPathVolumeSource,
      "A directory of the node; only for tests on a single node.",
    ).nullable(),
    glusterfs: field(4, GlusterfsPersistentVolumeSource, "A Glusterfs volume.").nullable(),
    nfs: field(5, NFSVolumeSource, "A directory exported by an NFS server.").nullable(),
    rbd: field(6, RBDPersistentVolumeSource, "A Rados block device.").nullable(),
    iscsi: field(7, ISCSIPersistentVolumeSource, "An iSCSI disk.").nullable(),
    cinder: field(8, CinderPersistentVolumeSource, "A Cinder volume.").nullable(),
    cephfs: field(9, CephFSPersistentVolumeSource, "A Ceph file system.").nullable(),
    fc: field(10, FCVolumeSource, "A Fibre Channel disk.").nullable(),
    flocker: field(11, FlockerVolumeSource, "A Flocker volume.").nullable(),
    flexVolume: field(
      12,
      FlexPersistentVolumeSource,
      "A FlexVolume, provided by a driver that is an executable.",
    ).nullable(),
    azureFile: field(13, AzureFilePersistentVolumeSource, "An Azure file share.").nullable(),
    vsphereVolume: field(14, VsphereVirtualDiskVolumeSource, "A vSphere volume.").nullable(),
    quobyte: field(15, QuobyteVolumeSource, "A Quobyte volume.").nullable(),
    azureDisk: field(16, AzureDiskVolumeSource, "An Azure data disk.").nullable(),
    photonPersistentDisk: field(17, PhotonPersistentDiskVolumeSource, "A Photon Controller disk.").nullable(),
    portworxVolume: field(18, PortworxVolumeSource, "A Portworx volume.").nullable(),
    scaleIO: field(19, ScaleIOPersistentVolumeSource, "A ScaleIO volume.").nullable(),
    local: field(20, LocalVolumeSource, "Local storage of one node.").nullable(),
    storageos: field(21, StorageOSPersistentVolumeSource, "A StorageOS volume.").nullable(),
    csi: field(22, CSIPersistentVolumeSource, "A volume of a CSI driver.").nullable(),
  },
);

const VolumeNodeAffinity = struct("VolumeNodeAffinity", "Nodes that can access a volume.", {
  required: field(1, NodeSelector, "Node selector that nodes must match.").nullable(),
});

export const PersistentVolumeSpec = struct(
  "PersistentVolumeSpec",
  "Capacity, access and storage of a persistent volume.",
  {
    capacity: field(1, map(quantity), "Capacity of the volume, such as `storage: 10Gi`."),
    ...inlined(2, PersistentVolumeSource),
    accessModes: field(3, list(string), "Access modes that the volume supports, such as ReadWriteOnce.")
      .atomic()
      .oneOf(...accessModes),
    claimRef: field(4, ObjectReference, "The claim to which the volume is bound.").nullable().granular(),
    persistentVolumeReclaimPolicy: field(
      5,
      string,
      "Reclaim policy of the volume after its claim is deleted: Retain, Delete or Recycle. Default: Retain.",
    ).oneOf("Delete", "Recycle", "Retain"),
    storageClassName: field(6, string, "Name of the StorageClass; empty for none.").check(dnsSubdomain),
    mountOptions: field(
      7,
      list(string),
      "Mount options of the volume; the server does not check them.",
    ).atomic(),
    volumeMode: field(
      8,
      string,
      "Volume mode: Filesystem, or Block for a raw block device. Default: Filesystem.",
    )
      .nullable()
      .oneOf("Block", "Filesystem"),
    nodeAffinity: field(
      9,
      VolumeNodeAffinity,
      "Nodes that can access the volume; absent for all.",
    ).nullable(),
  },
  {
    fill: (spec) => roundUpToMilli(spec.capacity),
    later: () => ({
      volumeAttributesClassName: since(
        "1.29",
        field(10, string, "Name of the VolumeAttributesClass of the volume.")
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
  "Observed state of a persistent volume.",
  {
    phase: field(1, string, "Phase of the volume: Pending, Available, Bound, Released or Failed.").oneOf(
      "Available",
      "Bound",
      "Failed",
      "Pending",
      "Released",
    ),
    message: field(2, string, "Human-readable details of the phase."),
    reason: field(3, string, "Machine-readable reason for a failure."),
  },
  {
    later: () => ({
      lastPhaseTransitionTime: since(
        "1.28",
        field(4, time, "Time of the last change of `phase`.")
          .nullable()
          .gated("PersistentVolumeLastPhaseTransitionTime"),
      ),
    }),
  },
);
