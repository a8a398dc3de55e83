import { LocalObjectReference, SecretReference } from "../references.ts";
import { struct } from "../v1.ts";
import { between } from "../../checks/numbers.ts";
import { diskAddress } from "./storage-rules.ts";
import { namedObject, placedSecret } from "./volume-rules.ts";
import { bool, field, int32, string } from "../../../schema/types.ts";

export const AWSElasticBlockStoreVolumeSource = struct("AWSElasticBlockStoreVolumeSource", "A disk of AWS.", {
  volumeID: field(1, string, "Identifier of the disk.").required(),
  fsType: field(2, string, "File system of the disk."),
  partition: field(3, int32, "Number of the partition; 0 is the whole disk.").check(between(0, 255)),
  readOnly: field(4, bool, "Whether the volume may only be read."),
});

export const AzureDiskVolumeSource = struct(
  "AzureDiskVolumeSource",
  "A data disk of Azure.",
  {
    diskName: field(1, string, "Name of the disk.").required(),
    diskURI: field(2, string, "Address of the disk.").required(),
    cachingMode: field(3, string, "How the host caches the disk.")
      .nullable()
      .oneOf("None", "ReadOnly", "ReadWrite")
      .unpublishedDefault("ReadWrite"),
    fsType: field(4, string, "File system of the disk.").nullable().unpublishedDefault("ext4"),
    readOnly: field(5, bool, "Whether the volume may only be read.").nullable().unpublishedDefault(false),
    kind: field(6, string, "How the disk is stored.")
      .nullable()
      .oneOf("Dedicated", "Managed", "Shared")
      .unpublishedDefault("Shared"),
  },
  { check: diskAddress },
);

export const AzureFilePersistentVolumeSource = struct(
  "AzureFilePersistentVolumeSource",
  "A file share of Azure.",
  {
    secretName: field(1, string, "Secret with the storage account's name and key.").required(),
    shareName: field(2, string, "Name of the share.").required(),
    readOnly: field(3, bool, "Whether the volume may only be read."),
    secretNamespace: field(4, string, "Namespace of the secret; the claim's own when absent.")
      .emitEmpty()
      .nullable(),
  },
  {
    check(share, report) {
      if (share.secretNamespace === "") report.at("secretNamespace").required();
    },
  },
);

export const AzureFileVolumeSource = struct("AzureFileVolumeSource", "A file share of Azure.", {
  secretName: field(1, string, "Secret with the storage account's name and key.").required(),
  shareName: field(2, string, "Name of the share.").required(),
  readOnly: field(3, bool, "Whether the volume may only be read."),
});

export const GCEPersistentDiskVolumeSource = struct("GCEPersistentDiskVolumeSource", "A disk of GCE.", {
  pdName: field(1, string, "Name of the disk.").required(),
  fsType: field(2, string, "File system of the disk."),
  partition: field(3, int32, "Number of the partition; 0 is the whole disk.").check(between(0, 255)),
  readOnly: field(4, bool, "Whether the volume may only be read."),
});

export const PhotonPersistentDiskVolumeSource = struct("PhotonPersistentDiskVolumeSource", "A Photon disk.", {
  pdID: field(1, string, "Identifier of the disk.").required(),
  fsType: field(2, string, "File system of the disk."),
});

export const VsphereVirtualDiskVolumeSource = struct("VsphereVirtualDiskVolumeSource", "A vSphere disk.", {
  volumePath: field(1, string, "Path of the disk.").required(),
  fsType: field(2, string, "File system of the disk."),
  storagePolicyName: field(3, string, "Name of the storage policy."),
  storagePolicyID: field(4, string, "Identifier of the storage policy."),
});

export const CinderPersistentVolumeSource = struct("CinderPersistentVolumeSource", "A Cinder disk.", {
  volumeID: field(1, string, "Identifier of the disk.").required(),
  fsType: field(2, string, "File system of the disk."),
  readOnly: field(3, bool, "Whether the volume may only be read."),
  secretRef: field(4, SecretReference, "Secret with what is needed to log in.")
    .nullable()
    .check(placedSecret),
});

export const CinderVolumeSource = struct("CinderVolumeSource", "A Cinder disk.", {
  volumeID: field(1, string, "Identifier of the disk.").required(),
  fsType: field(2, string, "File system of the disk."),
  readOnly: field(3, bool, "Whether the volume may only be read."),
  secretRef: field(4, LocalObjectReference, "Secret with what is needed to log in.")
    .nullable()
    .check(namedObject),
});
