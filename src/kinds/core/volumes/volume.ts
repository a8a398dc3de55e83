import { struct } from "../v1.ts";
import { defaultPullPolicy } from "../pod/image-name.ts";
import { dnsLabel } from "../../checks/names.ts";
import { oneSource } from "./volume-rules.ts";
import {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFileVolumeSource,
  CinderVolumeSource,
  GCEPersistentDiskVolumeSource,
  PhotonPersistentDiskVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from "./cloud-disks.ts";
import { CSIVolumeSource } from "./csi.ts";
import {
  ConfigMapVolumeSource,
  DownwardAPIVolumeSource,
  EmptyDirVolumeSource,
  EphemeralVolumeSource,
  GitRepoVolumeSource,
  HostPathVolumeSource,
  PersistentVolumeClaimVolumeSource,
  SecretVolumeSource,
} from "./files.ts";
import {
  CephFSVolumeSource,
  FCVolumeSource,
  GlusterfsVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  RBDVolumeSource,
} from "./network-storage.ts";
import {
  FlexVolumeSource,
  FlockerVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  ScaleIOVolumeSource,
  StorageOSVolumeSource,
} from "./plugin-storage.ts";
import { ProjectedVolumeSource } from "./projected.ts";
import { inlinedLater, since } from "../../../schema/later-fields.ts";
import { field, inlined, string } from "../../../schema/types.ts";

const ImageVolumeSource = struct(
  "ImageVolumeSource",
  "The content of a container image as a volume.",
  {
    reference: field(1, string, "Name of the image.").mustBeGiven(),
    pullPolicy: field(2, string, "When the image is fetched.").oneOf("Always", "IfNotPresent", "Never"),
  },
  {
    fill(copy) {
      copy.pullPolicy ??= defaultPullPolicy(copy.reference ?? "");
    },
  },
);

const laterVolumeSources = {
  image: since(
    "1.31",
    field(30, ImageVolumeSource, "The content of an image; the container may only read it.")
      .nullable()
      .gated("ImageVolume"),
  ),
};

const VolumeSource = struct(
  "VolumeSource",
  "Where a volume comes from; exactly one is given.",
  {
    hostPath: field(1, HostPathVolumeSource, "A file or directory of the node.").nullable(),
    emptyDir: field(2, EmptyDirVolumeSource, "An empty directory that lives as long as the pod.").nullable(),
    gcePersistentDisk: field(
      3,
      GCEPersistentDiskVolumeSource,
      "A GCE disk that is attached to the node.",
    ).nullable(),
    awsElasticBlockStore: field(
      4,
      AWSElasticBlockStoreVolumeSource,
      "An AWS disk that is attached to the node.",
    ).nullable(),
    gitRepo: field(5, GitRepoVolumeSource, "Deprecated: a copy of a git repository.").nullable(),
    secret: field(6, SecretVolumeSource, "The data of a secret as files.").nullable(),
    nfs: field(7, NFSVolumeSource, "A directory of an NFS server.").nullable(),
    iscsi: field(8, ISCSIVolumeSource, "An iSCSI disk.").nullable(),
    glusterfs: field(9, GlusterfsVolumeSource, "A Glusterfs volume.").nullable(),
    persistentVolumeClaim: field(
      10,
      PersistentVolumeClaimVolumeSource,
      "The volume that a claim of the same namespace is bound to.",
    ).nullable(),
    rbd: field(11, RBDVolumeSource, "A Rados block device.").nullable(),
    flexVolume: field(
      12,
      FlexVolumeSource,
      "Deprecated: a volume of a plugin that is called as a program.",
    ).nullable(),
    cinder: field(13, CinderVolumeSource, "A Cinder disk.").nullable(),
    cephfs: field(14, CephFSVolumeSource, "A Ceph file system.").nullable(),
    flocker: field(15, FlockerVolumeSource, "A Flocker volume.").nullable(),
    downwardAPI: field(16, DownwardAPIVolumeSource, "Facts about the pod as files.").nullable(),
    fc: field(17, FCVolumeSource, "A Fibre Channel disk.").nullable(),
    azureFile: field(18, AzureFileVolumeSource, "An Azure file share.").nullable(),
    configMap: field(19, ConfigMapVolumeSource, "The data of a config map as files.").nullable(),
    vsphereVolume: field(20, VsphereVirtualDiskVolumeSource, "A vSphere disk.").nullable(),
    quobyte: field(21, QuobyteVolumeSource, "A Quobyte volume.").nullable(),
    azureDisk: field(22, AzureDiskVolumeSource, "An Azure data disk.").nullable(),
    photonPersistentDisk: field(23, PhotonPersistentDiskVolumeSource, "A Photon disk.").nullable(),
    portworxVolume: field(24, PortworxVolumeSource, "A Portworx volume.").nullable(),
    scaleIO: field(25, ScaleIOVolumeSource, "A ScaleIO volume.").nullable(),
    projected: field(26, ProjectedVolumeSource, "Several sources of files in one directory.").nullable(),
    storageos: field(27, StorageOSVolumeSource, "A StorageOS volume.").nullable(),
    csi: field(28, CSIVolumeSource, "A temporary volume of a storage driver.").nullable(),
    ephemeral: field(
      29,
      EphemeralVolumeSource,
      "A volume whose claim is made with the pod and ends with it.",
    ).nullable(),
  },
  { later: () => laterVolumeSources },
);

export const Volume = struct(
  "Volume",
  "A volume of a pod.",
  {
    name: field(1, string, "Name of the volume, unique within the pod.").required().check(dnsLabel),
    ...inlined(2, VolumeSource),
  },
  {
    fill(copy) {
      const sources = Object.keys(copy).filter((name) => name !== "name");
      if (sources.length === 0) copy.emptyDir = {};
    },
    check: oneSource,
    later: () => inlinedLater(2, laterVolumeSources),
  },
);
