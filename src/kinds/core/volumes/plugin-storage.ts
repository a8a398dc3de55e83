import { LocalObjectReference, ObjectReference, SecretReference } from "../references.ts";
import { struct } from "../v1.ts";
import { dnsLabel } from "../../checks/names.ts";
import { noBacksteps } from "../../checks/paths.ts";
import { checkDataset, checkTenant, pluginOptions, registries } from "./storage-rules.ts";
import { namedObject, placedSecret } from "./volume-rules.ts";
import { bool, field, map, string } from "../../../schema/types.ts";

export const FlexPersistentVolumeSource = struct(
  "FlexPersistentVolumeSource",
  "A volume of a plugin that is called as a program.",
  {
    driver: field(1, string, "Name of the plugin's driver.").required(),
    fsType: field(2, string, "File system of the disk."),
    secretRef: field(3, SecretReference, "Secret with what is needed to log in.").nullable(),
    readOnly: field(4, bool, "Whether the volume may only be read."),
    options: field(5, map(string), "Options for the driver.").check(pluginOptions),
  },
);

export const FlexVolumeSource = struct(
  "FlexVolumeSource",
  "A volume of a plugin that is called as a program.",
  {
    driver: field(1, string, "Name of the plugin's driver.").required(),
    fsType: field(2, string, "File system of the disk."),
    secretRef: field(3, LocalObjectReference, "Secret with what is needed to log in.").nullable(),
    readOnly: field(4, bool, "Whether the volume may only be read."),
    options: field(5, map(string), "Options for the driver.").check(pluginOptions),
  },
);

export const FlockerVolumeSource = struct(
  "FlockerVolumeSource",
  "A Flocker volume; exactly one of name and identifier is given.",
  {
    datasetName: field(1, string, "Name of the dataset; deprecated."),
    datasetUUID: field(2, string, "Identifier of the dataset."),
  },
  { check: checkDataset },
);

export const PortworxVolumeSource = struct("PortworxVolumeSource", "A Portworx volume.", {
  volumeID: field(1, string, "Identifier of the volume.").required(),
  fsType: field(2, string, "File system of the disk."),
  readOnly: field(3, bool, "Whether the volume may only be read."),
});

export const QuobyteVolumeSource = struct("QuobyteVolumeSource", "A Quobyte volume.", {
  registry: field(1, string, "Registries as host:port, separated by commas.").required().check(registries),
  volume: field(2, string, "Name of the volume.").required(),
  readOnly: field(3, bool, "Whether the volume may only be read."),
  user: field(4, string, "User that the volume is mapped to."),
  group: field(5, string, "Group that the volume is mapped to."),
  tenant: field(6, string, "Tenant that owns the volume.").check(checkTenant),
});

export const ScaleIOPersistentVolumeSource = struct("ScaleIOPersistentVolumeSource", "A ScaleIO volume.", {
  gateway: field(1, string, "Address of the gateway.").required(),
  system: field(2, string, "Name of the storage system.").required(),
  secretRef: field(3, SecretReference, "Secret with what is needed to log in.").declaredRequired().nullable(),
  sslEnabled: field(4, bool, "Whether the gateway is spoken to by TLS."),
  protectionDomain: field(5, string, "Name of the protection domain."),
  storagePool: field(6, string, "Name of the storage pool."),
  storageMode: field(7, string, "How the volume is provisioned.").unpublishedDefault("ThinProvisioned"),
  volumeName: field(8, string, "Name of the volume.").mustBeGiven(),
  fsType: field(9, string, "File system of the disk.").unpublishedDefault("xfs"),
  readOnly: field(10, bool, "Whether the volume may only be read."),
});

export const ScaleIOVolumeSource = struct("ScaleIOVolumeSource", "A ScaleIO volume.", {
  gateway: field(1, string, "Address of the gateway.").required(),
  system: field(2, string, "Name of the storage system.").required(),
  secretRef: field(3, LocalObjectReference, "Secret with what is needed to log in.")
    .declaredRequired()
    .nullable(),
  sslEnabled: field(4, bool, "Whether the gateway is spoken to by TLS."),
  protectionDomain: field(5, string, "Name of the protection domain."),
  storagePool: field(6, string, "Name of the storage pool."),
  storageMode: field(7, string, "How the volume is provisioned.").unpublishedDefault("ThinProvisioned"),
  volumeName: field(8, string, "Name of the volume.").mustBeGiven(),
  fsType: field(9, string, "File system of the disk.").unpublishedDefault("xfs"),
  readOnly: field(10, bool, "Whether the volume may only be read."),
});

const storageOsVolume = {
  volumeName: field(1, string, "Name of the volume, unique within its namespace.")
    .mustBeGiven()
    .check(dnsLabel),
  volumeNamespace: field(
    2,
    string,
    "Namespace of the volume in the storage system; the own one when empty.",
  ).check(dnsLabel),
  fsType: field(3, string, "File system of the disk."),
  readOnly: field(4, bool, "Whether the volume may only be read."),
};

export const StorageOSPersistentVolumeSource = struct(
  "StorageOSPersistentVolumeSource",
  "A StorageOS volume.",
  {
    ...storageOsVolume,
    secretRef: field(5, ObjectReference, "Secret with what is needed to log in.")
      .nullable()
      .check(placedSecret),
  },
);

export const StorageOSVolumeSource = struct("StorageOSVolumeSource", "A StorageOS volume.", {
  ...storageOsVolume,
  secretRef: field(5, LocalObjectReference, "Secret with what is needed to log in.")
    .nullable()
    .check(namedObject),
});

export const LocalVolumeSource = struct("LocalVolumeSource", "A disk, partition or directory of one node.", {
  path: field(1, string, "Path on the node.").required().check(noBacksteps),
  fsType: field(2, string, "File system of the disk.").nullable(),
});
