import { LocalObjectReference, SecretReference } from "../references.ts";
import { struct } from "../v1.ts";
import { namespaceName } from "../../checks/names.ts";
import { between } from "../../checks/numbers.ts";
import { notEmpty } from "../../checks/values.ts";
import { checkTarget, checkWorldWideNames, exportedPath, targetName } from "./storage-rules.ts";
import { namedObject } from "./volume-rules.ts";
import { bool, field, int32, list, string } from "../../../schema/types.ts";

export const NFSVolumeSource = struct("NFSVolumeSource", "A directory of an NFS server.", {
  server: field(1, string, "Host name or address of the server.").required(),
  path: field(2, string, "Path that the server exports.")
    .declaredRequired()
    .checkedWhenEmpty()
    .check(exportedPath),
  readOnly: field(3, bool, "Whether the volume may only be read."),
});

const iscsiTarget = {
  targetPortal: field(1, string, "Address of the target, with its port unless it is the default.").required(),
  iqn: field(2, string, "Qualified name of the target.").required().check(targetName),
  lun: field(3, int32, "Number of the logical unit.").required().check(between(0, 255)),
  iscsiInterface: field(4, string, "Name of the interface.").unpublishedDefault("default"),
  fsType: field(5, string, "File system of the disk."),
  readOnly: field(6, bool, "Whether the volume may only be read."),
  portals: field(7, list(string), "Further addresses of the target.").atomic(),
  chapAuthDiscovery: field(8, bool, "Whether discovery needs a CHAP login."),
};

const iscsiSession = {
  chapAuthSession: field(11, bool, "Whether sessions need a CHAP login."),
  initiatorName: field(12, string, "Qualified name of the initiator, instead of the node's.").nullable(),
};

export const ISCSIPersistentVolumeSource = struct(
  "ISCSIPersistentVolumeSource",
  "An iSCSI disk.",
  {
    ...iscsiTarget,
    secretRef: field(10, SecretReference, "Secret with what is needed to log in.")
      .nullable()
      .check(namedObject),
    ...iscsiSession,
  },
  { check: checkTarget },
);

export const ISCSIVolumeSource = struct(
  "ISCSIVolumeSource",
  "An iSCSI disk.",
  {
    ...iscsiTarget,
    secretRef: field(10, LocalObjectReference, "Secret with what is needed to log in.")
      .nullable()
      .check(namedObject),
    ...iscsiSession,
  },
  { check: checkTarget },
);

export const GlusterfsPersistentVolumeSource = struct(
  "GlusterfsPersistentVolumeSource",
  "A Glusterfs volume.",
  {
    endpoints: field(1, string, "Name of the endpoints object that lists the servers.").required(),
    path: field(2, string, "Path of the volume.").required(),
    readOnly: field(3, bool, "Whether the volume may only be read."),
    endpointsNamespace: field(
      4,
      string,
      "Namespace of the endpoints; the claim's own when empty.",
    ).nullable(),
  },
  {
    check(volume, report) {
      if (volume.endpointsNamespace !== undefined) {
        namespaceName(volume.endpointsNamespace, report.at("endpointsNamespace"));
      }
    },
  },
);

export const GlusterfsVolumeSource = struct("GlusterfsVolumeSource", "A Glusterfs volume.", {
  endpoints: field(1, string, "Name of the endpoints object that lists the servers.").required(),
  path: field(2, string, "Path of the volume.").required(),
  readOnly: field(3, bool, "Whether the volume may only be read."),
});

const rbdImage = {
  monitors: field(1, list(string), "Addresses of the monitors.").required().atomic().check(notEmpty),
  image: field(2, string, "Name of the image.").required(),
  fsType: field(3, string, "File system of the disk."),
  pool: field(4, string, "Name of the pool.").unpublishedDefault("rbd"),
  user: field(5, string, "User that logs in.").unpublishedDefault("admin"),
  keyring: field(6, string, "Path of the key ring.").unpublishedDefault("/etc/ceph/keyring"),
};

export const RBDPersistentVolumeSource = struct("RBDPersistentVolumeSource", "A Rados block device.", {
  ...rbdImage,
  secretRef: field(7, SecretReference, "Secret with what is needed to log in.").nullable(),
  readOnly: field(8, bool, "Whether the volume may only be read."),
});

export const RBDVolumeSource = struct("RBDVolumeSource", "A Rados block device.", {
  ...rbdImage,
  secretRef: field(7, LocalObjectReference, "Secret with what is needed to log in.").nullable(),
  readOnly: field(8, bool, "Whether the volume may only be read."),
});

const cephFileSystem = {
  monitors: field(1, list(string), "Addresses of the monitors.").required().atomic().check(notEmpty),
  path: field(2, string, "Path that is mounted."),
  user: field(3, string, "User that logs in."),
  secretFile: field(4, string, "Path of the file with the key."),
};

export const CephFSPersistentVolumeSource = struct("CephFSPersistentVolumeSource", "A Ceph file system.", {
  ...cephFileSystem,
  secretRef: field(5, SecretReference, "Secret with what is needed to log in.").nullable(),
  readOnly: field(6, bool, "Whether the volume may only be read."),
});

export const CephFSVolumeSource = struct("CephFSVolumeSource", "A Ceph file system.", {
  ...cephFileSystem,
  secretRef: field(5, LocalObjectReference, "Secret with what is needed to log in.").nullable(),
  readOnly: field(6, bool, "Whether the volume may only be read."),
});

export const FCVolumeSource = struct(
  "FCVolumeSource",
  "A Fibre Channel disk.",
  {
    targetWWNs: field(1, list(string), "World wide names of the targets.").atomic(),
    lun: field(2, int32, "Number of the logical unit.").nullable(),
    fsType: field(3, string, "File system of the disk."),
    readOnly: field(4, bool, "Whether the volume may only be read."),
    wwids: field(5, list(string), "World wide identifiers, instead of targets and unit.").atomic(),
  },
  { check: checkWorldWideNames },
);
