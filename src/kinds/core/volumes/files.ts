import { PersistentVolumeClaimSpec } from "../persistent-volume-claim.ts";
import { ObjectFieldSelector, ResourceFieldSelector } from "../pod/environment.ts";
import { LocalObjectReference } from "../references.ts";
import { struct } from "../v1.ts";
import { fileMode, userOrGroupId } from "../../checks/numbers.ts";
import { descendingPath, noBacksteps, volumeFilePath } from "../../checks/paths.ts";
import { checkDownwardFile, claimTemplateMetadata, sizeLimit } from "./file-rules.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { since } from "../../../schema/later-fields.ts";
import { bool, field, inlined, int32, int64, list, quantity, string } from "../../../schema/types.ts";

/** The owner of written files, with this field number. */
export function volumeUser(number: number) {
  const user = field(number, int64, "Numeric id of the user who owns the files.");
  return since("1.37", user.nullable().check(userOrGroupId).gated("AtomicWriteVolumeUserFields"));
}

export const KeyToPath = struct(
  "KeyToPath",
  "Puts a key's value into a file.",
  {
    key: field(1, string, "The key.").required(),
    path: field(2, string, "Path of the file below the mount point, without '..'.")
      .required()
      .check(volumeFilePath),
    mode: field(3, int32, "Permissions of the file.").nullable().check(fileMode),
  },
  { later: () => ({ user: volumeUser(4) }) },
);

export const ConfigMapVolumeSource = struct(
  "ConfigMapVolumeSource",
  "The data of a config map as files.",
  {
    ...inlined(1, LocalObjectReference),
    items: field(
      2,
      list(KeyToPath),
      "Keys that become files, with their paths; all keys when empty.",
    ).atomic(),
    defaultMode: field(3, int32, "Permissions of files that have none of their own.")
      .nullable()
      .unpublishedDefault(420)
      .check(fileMode),
    optional: field(4, bool, "Whether the map or its keys may be missing.").nullable(),
  },
  {
    check(source, report) {
      if ((source.name ?? "") === "") report.at("name").required();
    },
    later: () => ({ defaultUser: volumeUser(5) }),
  },
);

export const SecretVolumeSource = struct(
  "SecretVolumeSource",
  "The data of a secret as files.",
  {
    secretName: field(1, string, "Name of the secret in the pod's namespace.").mustBeGiven(),
    items: field(
      2,
      list(KeyToPath),
      "Keys that become files, with their paths; all keys when empty.",
    ).atomic(),
    defaultMode: field(3, int32, "Permissions of files that have none of their own.")
      .nullable()
      .unpublishedDefault(420)
      .check(fileMode),
    optional: field(4, bool, "Whether the secret or its keys may be missing.").nullable(),
  },
  { later: () => ({ defaultUser: volumeUser(5) }) },
);

export const DownwardAPIVolumeFile = struct(
  "DownwardAPIVolumeFile",
  "A file with a fact about the pod.",
  {
    path: field(1, string, "Path of the file below the mount point, without '..'.")
      .required()
      .check(volumeFilePath),
    fieldRef: field(2, ObjectFieldSelector, "A field of the pod's metadata.").nullable(),
    resourceFieldRef: field(3, ResourceFieldSelector, "A container's resource.").nullable(),
    mode: field(4, int32, "Permissions of the file.").nullable().check(fileMode),
  },
  { check: checkDownwardFile, later: () => ({ user: volumeUser(5) }) },
);

export const DownwardAPIVolumeSource = struct(
  "DownwardAPIVolumeSource",
  "Facts about the pod as files.",
  {
    items: field(1, list(DownwardAPIVolumeFile), "The files.").atomic(),
    defaultMode: field(2, int32, "Permissions of files that have none of their own.")
      .nullable()
      .unpublishedDefault(420)
      .check(fileMode),
  },
  { later: () => ({ defaultUser: volumeUser(3) }) },
);

export const EmptyDirVolumeSource = struct(
  "EmptyDirVolumeSource",
  "An empty directory that lives as long as the pod.",
  {
    medium: field(
      1,
      string,
      "What stores the directory: empty is the node's disk, Memory its memory.",
    ).knownValues("", "HugePages", "HugePages-", "Memory"),
    sizeLimit: field(2, quantity, "The most that may be stored.").nullable().check(sizeLimit),
  },
  {
    later: () => ({
      mode: since(
        "1.37",
        field(3, int32, "Permissions of the directory.")
          .nullable()
          .check(fileMode)
          .gated("EmptyDirVolumeMode"),
      ),
    }),
  },
);

export const HostPathVolumeSource = struct("HostPathVolumeSource", "A file or directory of the node.", {
  path: field(1, string, "Its path on the node.").required().check(noBacksteps),
  type: field(2, string, "What must or may be there.")
    .nullable()
    .oneOf(
      "",
      "BlockDevice",
      "CharDevice",
      "Directory",
      "DirectoryOrCreate",
      "File",
      "FileOrCreate",
      "Socket",
    )
    .unpublishedDefault(""),
});

export const GitRepoVolumeSource = struct("GitRepoVolumeSource", "A copy of a git repository.", {
  repository: field(1, string, "URL of the repository.").required(),
  revision: field(2, string, "Commit to check out."),
  directory: field(3, string, "Directory to put it into, without '..'.").check(descendingPath),
});

const PersistentVolumeClaimTemplate = struct(
  "PersistentVolumeClaimTemplate",
  "What a claim that is made with a pod is like.",
  {
    metadata: field(1, ObjectMeta, "Labels and annotations of the claim; nothing else is allowed.")
      .emitEmpty()
      .check(claimTemplateMetadata),
    spec: field(2, PersistentVolumeClaimSpec, "What the claim should be.").required(),
  },
);

export const EphemeralVolumeSource = struct(
  "EphemeralVolumeSource",
  "A volume whose claim is made with the pod.",
  {
    volumeClaimTemplate: field(
      1,
      PersistentVolumeClaimTemplate,
      "What the claim is like; it is named <pod>-<volume>.",
    )
      .nullable()
      .mustBeGiven(),
  },
);

export const PersistentVolumeClaimVolumeSource = struct(
  "PersistentVolumeClaimVolumeSource",
  "The volume that a claim is bound to.",
  {
    claimName: field(1, string, "Name of the claim in the pod's namespace.").required(),
    readOnly: field(2, bool, "Whether the volume may only be read."),
  },
);
