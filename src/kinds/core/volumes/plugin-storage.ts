import { LocalObjectReference, ObjectReference, SecretReference } from "../references.ts";
import { struct } from "../v1.ts";
import { dnsLabel } from "../../checks/names.ts";
import { noBacksteps } from "../../checks/paths.ts";
import { checkDataset, checkTenant, pluginOptions, registries } from "./storage-rules.ts";
import { namedObject, placedSecret } from "./volume-rules.ts";
import { bool, field, map, string } from "../../../schema/types.ts";

export const FlexPersistentVolumeSource = struct(
  "FlexPersistentVolumeSource",
  "A FlexVolume, provided by a driver that is an executable.",
  {
    driver: field(1, string, "Name of the FlexVolume driver.").required(),
    fsType: field(2, string, "Type of the file system, such as `ext4`."),
    secretRef: field(3, SecretReference, "Secret with the credentials of the storage server.").nullable(),
    readOnly: field(4, bool, "Whether the volume is read-only. Default: false."),
    options: field(5, map(string), "Options passed to the driver.").check(pluginOptions),
  },
);

export const FlexVolumeSource = struct(
  "FlexVolumeSource",
  "A FlexVolume, provided by a driver that is an executable.",
  {
    driver: field(1, string, "Name of the FlexVolume driver.").required(),
    fsType: field(2, string, "Type of the file system, such as `ext4`."),
    secretRef: field(
      3,
      LocalObjectReference,
      "Secret with the credentials of the storage server.",
    ).nullable(),
    readOnly: field(4, bool, "Whether the volume is read-only. Default: false."),
    options: field(5, map(string), "Options passed to the driver.").check(pluginOptions),
  },
);

export const FlockerVolumeSource = struct(
  "FlockerVolumeSource",
  "A Flocker volume; exactly one of name and UUID is set.",
  {
    datasetName: field(1, string, "Name of the dataset; deprecated."),
    datasetUUID: field(2, string, "UUID of the dataset."),
  },
  { check: checkDataset },
);

export const PortworxVolumeSource = struct("PortworxVolumeSource", "A Portworx volume.", {
  volumeID: field(1, string, "Identifier of the Portworx volume.").required(),
  fsType: field(2, string, "Type of the file system, such as `ext4`."),
  readOnly: field(3, bool, "Whether the volume is read-only. Default: false."),
});

export const QuobyteVolumeSource = struct("QuobyteVolumeSource", "A Quobyte volume.", {
  registry: field(1, string, "Addresses of Quobyte registries as `host:port`, separated by commas.")
    .required()
    .check(registries),
  volume: field(2, string, "Name of the Quobyte volume.").required(),
  readOnly: field(3, bool, "Whether the volume is read-only. Default: false."),
  user: field(4, string, "User to which volume access is mapped. Default: the owner of the volume."),
  group: field(5, string, "Group to which volume access is mapped. Default: no group."),
  tenant: field(6, string, "Tenant that owns the volume in the Quobyte backend.").check(checkTenant),
});

export const ScaleIOPersistentVolumeSource = struct("ScaleIOPersistentVolumeSource", "A ScaleIO volume.", {
  gateway: field(1, string, "Address of the ScaleIO gateway.").required(),
  system: field(2, string, "Name of the ScaleIO storage system.").required(),
  secretRef: field(3, SecretReference, "Secret with the credentials of the storage server.")
    .declaredRequired()
    .nullable(),
  sslEnabled: field(4, bool, "Whether connections to the gateway use TLS."),
  protectionDomain: field(5, string, "Name of the protection domain."),
  storagePool: field(6, string, "Name of the storage pool."),
  storageMode: field(
    7,
    string,
    "Provisioning: ThickProvisioned or ThinProvisioned. Default: ThinProvisioned.",
  ).unpublishedDefault("ThinProvisioned"),
  volumeName: field(8, string, "Name of the volume.").mustBeGiven(),
  fsType: field(9, string, "Type of the file system. Default: xfs.").unpublishedDefault("xfs"),
  readOnly: field(10, bool, "Whether the volume is read-only. Default: false."),
});

export const ScaleIOVolumeSource = struct("ScaleIOVolumeSource", "A ScaleIO volume.", {
  gateway: field(1, string, "Address of the ScaleIO gateway.").required(),
  system: field(2, string, "Name of the ScaleIO storage system.").required(),
  secretRef: field(3, LocalObjectReference, "Secret with the credentials of the storage server.")
    .declaredRequired()
    .nullable(),
  sslEnabled: field(4, bool, "Whether connections to the gateway use TLS."),
  protectionDomain: field(5, string, "Name of the protection domain."),
  storagePool: field(6, string, "Name of the storage pool."),
  storageMode: field(
    7,
    string,
    "Provisioning: ThickProvisioned or ThinProvisioned. Default: ThinProvisioned.",
  ).unpublishedDefault("ThinProvisioned"),
  volumeName: field(8, string, "Name of the volume.").mustBeGiven(),
  fsType: field(9, string, "Type of the file system. Default: xfs.").unpublishedDefault("xfs"),
  readOnly: field(10, bool, "Whether the volume is read-only. Default: false."),
});

const storageOsVolume = {
  volumeName: field(1, string, "Name of the StorageOS volume, unique in its namespace.")
    .mustBeGiven()
    .check(dnsLabel),
  volumeNamespace: field(
    2,
    string,
    "Namespace of the volume in StorageOS. Default: the pod's namespace.",
  ).check(dnsLabel),
  fsType: field(3, string, "Type of the file system, such as `ext4`."),
  readOnly: field(4, bool, "Whether the volume is read-only. Default: false."),
};

export const StorageOSPersistentVolumeSource = struct(
  "StorageOSPersistentVolumeSource",
  "A StorageOS volume.",
  {
    ...storageOsVolume,
    secretRef: field(5, ObjectReference, "Secret with the credentials of the storage server.")
      .nullable()
      .check(placedSecret),
  },
);

export const StorageOSVolumeSource = struct("StorageOSVolumeSource", "A StorageOS volume.", {
  ...storageOsVolume,
  secretRef: field(5, LocalObjectReference, "Secret with the credentials of the storage server.")
    .nullable()
    .check(namedObject),
});

export const LocalVolumeSource = struct(
  "LocalVolumeSource",
  "Local storage of a node: a disk, partition or directory.",
  {
    path: field(1, string, "Path on the node of the disk, partition or directory.")
      .required()
      .check(noBacksteps),
    fsType: field(2, string, "Type of the file system, such as `ext4`.").nullable(),
  },
);
