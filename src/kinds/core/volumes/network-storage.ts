import { LocalObjectReference, SecretReference } from "../references.ts";
import { struct } from "../v1.ts";
import { namespaceName } from "../../checks/names.ts";
import { between } from "../../checks/numbers.ts";
import { notEmpty } from "../../checks/values.ts";
import { checkTarget, checkWorldWideNames, exportedPath, targetName } from "./storage-rules.ts";
import { namedObject } from "./volume-rules.ts";
import { bool, field, int32, list, string } from "../../../schema/types.ts";

export const NFSVolumeSource = struct("NFSVolumeSource", "A directory exported by an NFS server.", {
  server: field(1, string, "Host name or IP address of the server.").required(),
  path: field(2, string, "Path exported by the server.")
    .declaredRequired()
    .checkedWhenEmpty()
    .check(exportedPath),
  readOnly: field(3, bool, "Whether the volume is read-only. Default: false."),
});

const iscsiTarget = {
  targetPortal: field(
    1,
    string,
    "Address of the target portal, with the port unless it is the default (3260).",
  ).required(),
  iqn: field(2, string, "Qualified name (IQN) of the iSCSI target.").required().check(targetName),
  lun: field(3, int32, "Logical unit number (LUN), 0 to 255.").required().check(between(0, 255)),
  iscsiInterface: field(4, string, "Name of the iSCSI interface. Default: default.").unpublishedDefault(
    "default",
  ),
  fsType: field(5, string, "Type of the file system, such as `ext4`."),
  readOnly: field(6, bool, "Whether the volume is read-only. Default: false."),
  portals: field(7, list(string), "Addresses of further target portals.").atomic(),
  chapAuthDiscovery: field(8, bool, "Whether discovery uses CHAP authentication."),
};

const iscsiSession = {
  chapAuthSession: field(11, bool, "Whether sessions use CHAP authentication."),
  initiatorName: field(
    12,
    string,
    "Qualified name (IQN) of the iSCSI initiator. Default: that of the node.",
  ).nullable(),
};

export const ISCSIPersistentVolumeSource = struct(
  "ISCSIPersistentVolumeSource",
  "An iSCSI disk.",
  {
    ...iscsiTarget,
    secretRef: field(10, SecretReference, "Secret with the credentials of the storage server.")
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
    secretRef: field(10, LocalObjectReference, "Secret with the credentials of the storage server.")
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
    endpoints: field(1, string, "Name of the Endpoints object with the server addresses.").required(),
    path: field(2, string, "Path of the volume.").required(),
    readOnly: field(3, bool, "Whether the volume is read-only. Default: false."),
    endpointsNamespace: field(
      4,
      string,
      "Namespace of the Endpoints. Default: that of the claim.",
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
  endpoints: field(1, string, "Name of the Endpoints object with the server addresses.").required(),
  path: field(2, string, "Path of the volume.").required(),
  readOnly: field(3, bool, "Whether the volume is read-only. Default: false."),
});

const rbdImage = {
  monitors: field(1, list(string), "Addresses of the Ceph monitors.").required().atomic().check(notEmpty),
  image: field(2, string, "Name of the Rados image.").required(),
  fsType: field(3, string, "Type of the file system, such as `ext4`."),
  pool: field(4, string, "Name of the Rados pool. Default: rbd.").unpublishedDefault("rbd"),
  user: field(5, string, "Name of the Rados user. Default: admin.").unpublishedDefault("admin"),
  keyring: field(
    6,
    string,
    "Path of the user's keyring file. Default: `/etc/ceph/keyring`.",
  ).unpublishedDefault("/etc/ceph/keyring"),
};

export const RBDPersistentVolumeSource = struct("RBDPersistentVolumeSource", "A Rados block device.", {
  ...rbdImage,
  secretRef: field(7, SecretReference, "Secret with the credentials of the storage server.").nullable(),
  readOnly: field(8, bool, "Whether the volume is read-only. Default: false."),
});

export const RBDVolumeSource = struct("RBDVolumeSource", "A Rados block device.", {
  ...rbdImage,
  secretRef: field(7, LocalObjectReference, "Secret with the credentials of the storage server.").nullable(),
  readOnly: field(8, bool, "Whether the volume is read-only. Default: false."),
});

const cephFileSystem = {
  monitors: field(1, list(string), "Addresses of the Ceph monitors.").required().atomic().check(notEmpty),
  path: field(2, string, "Path of the directory to mount. Default: `/`."),
  user: field(3, string, "Name of the Ceph user. Default: admin."),
  secretFile: field(4, string, "Path of the user's keyring file. Default: `/etc/ceph/user.secret`."),
};

export const CephFSPersistentVolumeSource = struct("CephFSPersistentVolumeSource", "A Ceph file system.", {
  ...cephFileSystem,
  secretRef: field(5, SecretReference, "Secret with the credentials of the storage server.").nullable(),
  readOnly: field(6, bool, "Whether the volume is read-only. Default: false."),
});

export const CephFSVolumeSource = struct("CephFSVolumeSource", "A Ceph file system.", {
  ...cephFileSystem,
  secretRef: field(5, LocalObjectReference, "Secret with the credentials of the storage server.").nullable(),
  readOnly: field(6, bool, "Whether the volume is read-only. Default: false."),
});

export const FCVolumeSource = struct(
  "FCVolumeSource",
  "A Fibre Channel disk.",
  {
    targetWWNs: field(1, list(string), "World wide names (WWNs) of the targets.").atomic(),
    lun: field(2, int32, "Logical unit number (LUN) of the target.").nullable(),
    fsType: field(3, string, "Type of the file system, such as `ext4`."),
    readOnly: field(4, bool, "Whether the volume is read-only. Default: false."),
    wwids: field(5, list(string), "World wide identifiers (WWIDs); in place of targets and LUN.").atomic(),
  },
  { check: checkWorldWideNames },
);
