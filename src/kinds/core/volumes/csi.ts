import { LocalObjectReference, SecretReference } from "../references.ts";
import { struct } from "../v1.ts";
import { storageDriverName } from "../../checks/names.ts";
import { csiDriverName, namedSecretOfDriver } from "./storage-rules.ts";
import { placedSecret } from "./volume-rules.ts";
import { bool, field, map, string } from "../../../schema/types.ts";

export const CSIPersistentVolumeSource = struct("CSIPersistentVolumeSource", "A volume of a CSI driver.", {
  driver: field(1, string, "Name of the CSI driver.")
    .declaredRequired()
    .checkedWhenEmpty(true)
    .check(storageDriverName),
  volumeHandle: field(2, string, "Identifier of the volume for the driver.").required(),
  readOnly: field(3, bool, "Whether the volume is read-only. Default: false."),
  fsType: field(4, string, "Type of the file system, such as `ext4`."),
  volumeAttributes: field(5, map(string), "Attributes passed to the driver."),
  controllerPublishSecretRef: field(6, SecretReference, "Secret for attaching and detaching the volume.")
    .nullable()
    .check(placedSecret),
  // As in the reference, this one isn't validated.
  nodeStageSecretRef: field(7, SecretReference, "Secret for staging the volume on a node.").nullable(),
  nodePublishSecretRef: field(8, SecretReference, "Secret for mounting the volume on a node.")
    .nullable()
    .check(placedSecret),
  controllerExpandSecretRef: field(9, SecretReference, "Secret for expanding the volume.")
    .nullable()
    .check(placedSecret),
  nodeExpandSecretRef: field(10, SecretReference, "Secret for expanding the volume on a node.")
    .gated("CSINodeExpandSecret")
    .nullable()
    .check(placedSecret),
});

export const CSIVolumeSource = struct("CSIVolumeSource", "An ephemeral volume of a CSI driver.", {
  driver: field(1, string, "Name of the CSI driver.").required().check(csiDriverName),
  readOnly: field(2, bool, "Whether the volume is read-only. Default: false.").nullable(),
  fsType: field(3, string, "Type of the file system, such as `ext4`.").nullable(),
  volumeAttributes: field(4, map(string), "Attributes passed to the driver."),
  nodePublishSecretRef: field(5, LocalObjectReference, "Secret for mounting the volume on a node.")
    .nullable()
    .check(namedSecretOfDriver),
});
