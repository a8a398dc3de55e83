import { LocalObjectReference, SecretReference } from "../references.ts";
import { struct } from "../v1.ts";
import { between } from "../../checks/numbers.ts";
import { diskAddress } from "./storage-rules.ts";
import { namedObject, placedSecret } from "./volume-rules.ts";
import { bool, field, int32, string } from "../../../schema/types.ts";

export const AWSElasticBlockStoreVolumeSource = struct(
  "AWSElasticBlockStoreVolumeSource",
  "An AWS EBS volume.",
  {
    volumeID: field(1, string, "Identifier of the EBS volume.").required(),
    fsType: field(2, string, "Type of the file system, such as `ext4`."),
    partition: field(3, int32, "Partition to mount; 0 mounts the whole disk.").check(between(0, 255)),
    readOnly: field(4, bool, "Whether the volume is read-only. Default: false."),
  },
);

export const AzureDiskVolumeSource = struct(
  "AzureDiskVolumeSource",
  "An Azure data disk.",
  {
    diskName: field(1, string, "Name of the disk.").required(),
    diskURI: field(2, string, "URI of the disk.").required(),
    cachingMode: field(3, string, "Host caching: None, ReadOnly or ReadWrite. Default: ReadWrite.")
      .nullable()
      .oneOf("None", "ReadOnly", "ReadWrite")
      .unpublishedDefault("ReadWrite"),
    fsType: field(4, string, "Type of the file system. Default: ext4.").nullable().unpublishedDefault("ext4"),
    readOnly: field(5, bool, "Whether the volume is read-only. Default: false.")
      .nullable()
      .unpublishedDefault(false),
    kind: field(6, string, "Kind of the disk: Shared, Dedicated or Managed. Default: Shared.")
      .nullable()
      .oneOf("Dedicated", "Managed", "Shared")
      .unpublishedDefault("Shared"),
  },
  { check: diskAddress },
);

export const AzureFilePersistentVolumeSource = struct(
  "AzureFilePersistentVolumeSource",
  "An Azure file share.",
  {
    secretName: field(1, string, "Name of the Secret with the storage account's name and key.").required(),
    shareName: field(2, string, "Name of the share.").required(),
    readOnly: field(3, bool, "Whether the volume is read-only. Default: false."),
    secretNamespace: field(4, string, "Namespace of the Secret. Default: that of the claim.")
      .emitEmpty()
      .nullable(),
  },
  {
    check(share, report) {
      if (share.secretNamespace === "") report.at("secretNamespace").required();
    },
  },
);

export const AzureFileVolumeSource = struct("AzureFileVolumeSource", "An Azure file share.", {
  secretName: field(1, string, "Name of the Secret with the storage account's name and key.").required(),
  shareName: field(2, string, "Name of the share.").required(),
  readOnly: field(3, bool, "Whether the volume is read-only. Default: false."),
});

export const GCEPersistentDiskVolumeSource = struct(
  "GCEPersistentDiskVolumeSource",
  "A GCE persistent disk.",
  {
    pdName: field(1, string, "Name of the disk.").required(),
    fsType: field(2, string, "Type of the file system, such as `ext4`."),
    partition: field(3, int32, "Partition to mount; 0 mounts the whole disk.").check(between(0, 255)),
    readOnly: field(4, bool, "Whether the volume is read-only. Default: false."),
  },
);

export const PhotonPersistentDiskVolumeSource = struct(
  "PhotonPersistentDiskVolumeSource",
  "A Photon Controller disk.",
  {
    pdID: field(1, string, "Identifier of the disk.").required(),
    fsType: field(2, string, "Type of the file system, such as `ext4`."),
  },
);

export const VsphereVirtualDiskVolumeSource = struct("VsphereVirtualDiskVolumeSource", "A vSphere disk.", {
  volumePath: field(1, string, "Path of the disk in the datastore.").required(),
  fsType: field(2, string, "Type of the file system, such as `ext4`."),
  storagePolicyName: field(3, string, "Name of the storage policy."),
  storagePolicyID: field(4, string, "Identifier of the storage policy."),
});

export const CinderPersistentVolumeSource = struct("CinderPersistentVolumeSource", "A Cinder volume.", {
  volumeID: field(1, string, "Identifier of the Cinder volume.").required(),
  fsType: field(2, string, "Type of the file system, such as `ext4`."),
  readOnly: field(3, bool, "Whether the volume is read-only. Default: false."),
  secretRef: field(4, SecretReference, "Secret with the credentials of the storage server.")
    .nullable()
    .check(placedSecret),
});

export const CinderVolumeSource = struct("CinderVolumeSource", "A Cinder volume.", {
  volumeID: field(1, string, "Identifier of the Cinder volume.").required(),
  fsType: field(2, string, "Type of the file system, such as `ext4`."),
  readOnly: field(3, bool, "Whether the volume is read-only. Default: false."),
  secretRef: field(4, LocalObjectReference, "Secret with the credentials of the storage server.")
    .nullable()
    .check(namedObject),
});
