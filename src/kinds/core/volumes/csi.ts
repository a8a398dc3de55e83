import { LocalObjectReference, SecretReference } from "../references.ts";
import { struct } from "../v1.ts";
import { storageDriverName } from "../../checks/names.ts";
import { csiDriverName, namedSecretOfDriver } from "./storage-rules.ts";
import { placedSecret } from "./volume-rules.ts";
import { bool, field, map, string } from "../../../schema/types.ts";

export const CSIPersistentVolumeSource = struct(
  "CSIPersistentVolumeSource",
  "A volume of a storage driver.",
  {
    driver: field(1, string, "Name of the driver.")
      .declaredRequired()
      .checkedWhenEmpty(true)
      .check(storageDriverName),
    volumeHandle: field(2, string, "Name by which the driver knows the volume.").required(),
    readOnly: field(3, bool, "Whether the volume may only be read."),
    fsType: field(4, string, "File system of the disk."),
    volumeAttributes: field(5, map(string), "Attributes for the driver."),
    controllerPublishSecretRef: field(6, SecretReference, "Secret for attaching and detaching the volume.")
      .nullable()
      .check(placedSecret),
    // As in the reference, this one isn't validated.
    nodeStageSecretRef: field(7, SecretReference, "Secret for preparing the volume on a node.").nullable(),
    nodePublishSecretRef: field(8, SecretReference, "Secret for mounting the volume on a node.")
      .nullable()
      .check(placedSecret),
    controllerExpandSecretRef: field(9, SecretReference, "Secret for growing the volume.")
      .nullable()
      .check(placedSecret),
    nodeExpandSecretRef: field(10, SecretReference, "Secret for growing the volume on a node.")
      .gated("CSINodeExpandSecret")
      .nullable()
      .check(placedSecret),
  },
);

export const CSIVolumeSource = struct("CSIVolumeSource", "A temporary volume of a storage driver.", {
  driver: field(1, string, "Name of the driver.").required().check(csiDriverName),
  readOnly: field(2, bool, "Whether the volume may only be read.").nullable(),
  fsType: field(3, string, "File system of the disk.").nullable(),
  volumeAttributes: field(4, map(string), "Attributes for the driver."),
  nodePublishSecretRef: field(5, LocalObjectReference, "Secret for mounting the volume on a node.")
    .nullable()
    .check(namedSecretOfDriver),
});
