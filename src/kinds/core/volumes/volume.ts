import { since } from "../../../base/release-rows.ts";
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
import { inlinedLater } from "../../../schema/added-fields.ts";
import { field, inlined, string } from "../../../schema/types.ts";

const ImageVolumeSource = struct(
  "ImageVolumeSource",
  "The content of a container image as a volume.",
  {
    reference: field(
      1,
      string,
      "Reference of the image, such as `registry.example.com/data:v1`.",
    ).mustBeGiven(),
    pullPolicy: field(
      2,
      string,
      "Pull policy: Always, IfNotPresent or Never. Default: Always for the tag `latest`, else IfNotPresent.",
    ).oneOf("Always", "IfNotPresent", "Never"),
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
    field(30, ImageVolumeSource, "The read-only content of a container image.")
      .nullable()
      .gated("ImageVolume"),
  ),
};

const VolumeSource = struct(
  "VolumeSource",
  "Source of a volume; exactly one field is set.",
  {
    hostPath: field(1, HostPathVolumeSource, "A file or directory of the node.").nullable(),
    emptyDir: field(2, EmptyDirVolumeSource, "An empty directory that exists as long as the pod.").nullable(),
    gcePersistentDisk: field(
      3,
      GCEPersistentDiskVolumeSource,
      "A GCE persistent disk that is attached to the node.",
    ).nullable(),
    awsElasticBlockStore: field(
      4,
      AWSElasticBlockStoreVolumeSource,
      "An AWS EBS volume that is attached to the node.",
    ).nullable(),
    gitRepo: field(5, GitRepoVolumeSource, "Deprecated: a clone of a git repository.").nullable(),
    secret: field(6, SecretVolumeSource, "The keys of a Secret as files.").nullable(),
    nfs: field(7, NFSVolumeSource, "A directory exported by an NFS server.").nullable(),
    iscsi: field(8, ISCSIVolumeSource, "An iSCSI disk.").nullable(),
    glusterfs: field(9, GlusterfsVolumeSource, "A Glusterfs volume.").nullable(),
    persistentVolumeClaim: field(
      10,
      PersistentVolumeClaimVolumeSource,
      "The volume bound to a claim in the pod's namespace.",
    ).nullable(),
    rbd: field(11, RBDVolumeSource, "A Rados block device.").nullable(),
    flexVolume: field(
      12,
      FlexVolumeSource,
      "Deprecated: a FlexVolume, provided by a driver that is an executable.",
    ).nullable(),
    cinder: field(13, CinderVolumeSource, "A Cinder volume.").nullable(),
    cephfs: field(14, CephFSVolumeSource, "A Ceph file system.").nullable(),
    flocker: field(15, FlockerVolumeSource, "A Flocker volume.").nullable(),
    downwardAPI: field(16, DownwardAPIVolumeSource, "Fields of the pod as files.").nullable(),
    fc: field(17, FCVolumeSource, "A Fibre Channel disk.").nullable(),
    azureFile: field(18, AzureFileVolumeSource, "An Azure file share.").nullable(),
    configMap: field(19, ConfigMapVolumeSource, "The keys of a ConfigMap as files.").nullable(),
    vsphereVolume: field(20, VsphereVirtualDiskVolumeSource, "A vSphere disk.").nullable(),
    quobyte: field(21, QuobyteVolumeSource, "A Quobyte volume.").nullable(),
    azureDisk: field(22, AzureDiskVolumeSource, "An Azure data disk.").nullable(),
    photonPersistentDisk: field(23, PhotonPersistentDiskVolumeSource, "A Photon Controller disk.").nullable(),
    portworxVolume: field(24, PortworxVolumeSource, "A Portworx volume.").nullable(),
    scaleIO: field(25, ScaleIOVolumeSource, "A ScaleIO volume.").nullable(),
    projected: field(26, ProjectedVolumeSource, "Several sources of files in one directory.").nullable(),
    storageos: field(27, StorageOSVolumeSource, "A StorageOS volume.").nullable(),
    csi: field(28, CSIVolumeSource, "An ephemeral volume of a CSI driver.").nullable(),
    ephemeral: field(
      29,
      EphemeralVolumeSource,
      "A volume whose claim is created and deleted with the pod.",
    ).nullable(),
  },
  { later: () => laterVolumeSources },
);

export const Volume = struct(
  "Volume",
  "A volume of a pod.",
  {
    name: field(1, string, "Name of the volume, unique in the pod.").required().check(dnsLabel),
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
