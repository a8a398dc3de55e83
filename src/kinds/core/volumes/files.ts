import { since } from "../../../base/release-rows.ts";
import { PersistentVolumeClaimSpec } from "../persistent-volume-claim.ts";
import { ObjectFieldSelector, ResourceFieldSelector } from "../pod/environment.ts";
import { LocalObjectReference } from "../references.ts";
import { struct } from "../v1.ts";
import { fileMode, userOrGroupId } from "../../checks/numbers.ts";
import { descendingPath, noBacksteps, volumeFilePath } from "../../checks/paths.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { bool, field, inlined, int32, int64, list, quantity, string } from "../../../schema/types.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { annotationMap, labelMap } from "../../checks/names.ts";
import { checkFieldRef, checkResourceRef, type FieldRef, type ResourceRef } from "../pod/downward-rules.ts";
import { quantityFrom } from "../../quantities.ts";

interface DownwardFile {
  readonly fieldRef?: FieldRef | undefined;
  readonly resourceFieldRef?: ResourceRef | undefined;
}

const fieldPaths = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];

/** Requires exactly one of a field of the pod and a resource of a container. */
function checkDownwardFile(file: DownwardFile, report: FieldReport): void {
  const { fieldRef, resourceFieldRef } = file;
  if (fieldRef !== undefined) {
    checkFieldRef(fieldRef, fieldPaths, report.at("fieldRef"));
    if (resourceFieldRef !== undefined) {
      report.invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (resourceFieldRef !== undefined) {
    checkResourceRef(resourceFieldRef, true, report.at("resourceFieldRef"));
  } else report.required("one of fieldRef and resourceFieldRef is required");
}

/** Requires a non-negative size. */
function sizeLimit(text: string, report: FieldReport): void {
  const limit = quantityFrom(text);
  if (limit === undefined || limit.nanos < 0n) report.forbidden("must be a quantity of zero or more");
}

const allowed = new Set(["labels", "annotations", "creationTimestamp"]);

/** The server names a claim that is created for a pod, so its template may have only labels and annotations. */
function claimTemplateMetadata(
  metadata: {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  },
  report: FieldReport,
): void {
  labelMap(metadata.labels ?? {}, report.at("labels"));
  annotationMap(metadata.annotations ?? {}, report.at("annotations"));
  for (const name of Object.keys(metadata)) {
    if (!allowed.has(name)) report.at(name).forbidden("cannot be set for an ephemeral volume");
  }
}

/** The owner of written files, with this field number. */
export function volumeUser(number: number) {
  const user = field(number, int64, "User ID of the owner of the files.");
  return since("1.37", user.nullable().check(userOrGroupId).gated("AtomicWriteVolumeUserFields"));
}

export const KeyToPath = struct(
  "KeyToPath",
  "A key and the path of the file with its value.",
  {
    key: field(1, string, "Key in the ConfigMap or Secret.").required(),
    path: field(2, string, "Relative path of the file in the volume, without `..`.")
      .required()
      .check(volumeFilePath),
    mode: field(3, int32, "Permissions of the file, 0 to 511 (octal 0777). Default: `defaultMode`.")
      .nullable()
      .check(fileMode),
  },
  { later: () => ({ user: volumeUser(4) }) },
);

export const ConfigMapVolumeSource = struct(
  "ConfigMapVolumeSource",
  "The keys of a ConfigMap as files.",
  {
    ...inlined(1, LocalObjectReference),
    items: field(
      2,
      list(KeyToPath),
      "Keys to write as files, and their paths; empty writes all keys.",
    ).atomic(),
    defaultMode: field(
      3,
      int32,
      "Permissions of files without a `mode`, 0 to 511 (octal 0777). Default: 420 (octal 0644).",
    )
      .nullable()
      .unpublishedDefault(420)
      .check(fileMode),
    optional: field(4, bool, "Whether the ConfigMap or its keys may be missing.").nullable(),
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
  "The keys of a Secret as files.",
  {
    secretName: field(1, string, "Name of the Secret in the pod's namespace.").mustBeGiven(),
    items: field(
      2,
      list(KeyToPath),
      "Keys to write as files, and their paths; empty writes all keys.",
    ).atomic(),
    defaultMode: field(
      3,
      int32,
      "Permissions of files without a `mode`, 0 to 511 (octal 0777). Default: 420 (octal 0644).",
    )
      .nullable()
      .unpublishedDefault(420)
      .check(fileMode),
    optional: field(4, bool, "Whether the Secret or its keys may be missing.").nullable(),
  },
  { later: () => ({ defaultUser: volumeUser(5) }) },
);

export const DownwardAPIVolumeFile = struct(
  "DownwardAPIVolumeFile",
  "A file with a field of the pod or a resource of a container.",
  {
    path: field(1, string, "Relative path of the file in the volume, without `..`.")
      .required()
      .check(volumeFilePath),
    fieldRef: field(2, ObjectFieldSelector, "A field of the pod's metadata.").nullable(),
    resourceFieldRef: field(
      3,
      ResourceFieldSelector,
      "A resource request or limit of a container.",
    ).nullable(),
    mode: field(4, int32, "Permissions of the file, 0 to 511 (octal 0777). Default: `defaultMode`.")
      .nullable()
      .check(fileMode),
  },
  { check: checkDownwardFile, later: () => ({ user: volumeUser(5) }) },
);

export const DownwardAPIVolumeSource = struct(
  "DownwardAPIVolumeSource",
  "Fields of the pod as files.",
  {
    items: field(1, list(DownwardAPIVolumeFile), "The files to write.").atomic(),
    defaultMode: field(
      2,
      int32,
      "Permissions of files without a `mode`, 0 to 511 (octal 0777). Default: 420 (octal 0644).",
    )
      .nullable()
      .unpublishedDefault(420)
      .check(fileMode),
  },
  { later: () => ({ defaultUser: volumeUser(3) }) },
);

export const EmptyDirVolumeSource = struct(
  "EmptyDirVolumeSource",
  "An empty directory that exists as long as the pod.",
  {
    medium: field(
      1,
      string,
      "Storage medium: empty for the node's disk, Memory, or HugePages with an optional page size.",
    ).knownValues("", "HugePages", "HugePages-", "Memory"),
    sizeLimit: field(2, quantity, "Maximum size of the content.").nullable().check(sizeLimit),
  },
  {
    later: () => ({
      mode: since(
        "1.37",
        field(3, int32, "Permissions of the directory, 0 to 511 (octal 0777).")
          .nullable()
          .check(fileMode)
          .gated("EmptyDirVolumeMode"),
      ),
    }),
  },
);

export const HostPathVolumeSource = struct("HostPathVolumeSource", "A file or directory of the node.", {
  path: field(1, string, "Path of the file or directory on the node.").required().check(noBacksteps),
  type: field(2, string, "Required type of the path, such as Directory or FileOrCreate. Default: no check.")
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

export const GitRepoVolumeSource = struct("GitRepoVolumeSource", "A clone of a git repository.", {
  repository: field(1, string, "URL of the repository.").required(),
  revision: field(2, string, "Commit hash to check out."),
  directory: field(3, string, "Relative path of the directory for the clone, without `..`.").check(
    descendingPath,
  ),
});

const PersistentVolumeClaimTemplate = struct(
  "PersistentVolumeClaimTemplate",
  "Template of a claim that is created with a pod.",
  {
    metadata: field(1, ObjectMeta, "Labels and annotations of the claim; no other metadata is allowed.")
      .emitEmpty()
      .check(claimTemplateMetadata),
    spec: field(2, PersistentVolumeClaimSpec, "The storage that the claim requests.").required(),
  },
);

export const EphemeralVolumeSource = struct(
  "EphemeralVolumeSource",
  "A volume whose claim is created with the pod.",
  {
    volumeClaimTemplate: field(
      1,
      PersistentVolumeClaimTemplate,
      "Template of the claim; it gets the name `<pod>-<volume>`.",
    )
      .nullable()
      .mustBeGiven(),
  },
);

export const PersistentVolumeClaimVolumeSource = struct(
  "PersistentVolumeClaimVolumeSource",
  "The volume bound to a claim.",
  {
    claimName: field(1, string, "Name of the claim in the pod's namespace.").required(),
    readOnly: field(2, bool, "Whether the volume is read-only for the pod. Default: false."),
  },
);
