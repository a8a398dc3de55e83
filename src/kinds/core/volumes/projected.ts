import { LocalObjectReference } from "../references.ts";
import { struct } from "../v1.ts";
import { fileMode } from "../../checks/numbers.ts";
import { volumeFilePath } from "../../checks/paths.ts";
import { namedObject } from "./volume-rules.ts";
import { checkSources, tokenSeconds } from "./projected-rules.ts";
import { DownwardAPIVolumeFile, KeyToPath } from "./files.ts";
import { bool, field, inlined, int32, int64, list, string } from "../../../schema/types.ts";

const SecretProjection = struct(
  "SecretProjection",
  "A secret among the sources of a directory.",
  {
    ...inlined(1, LocalObjectReference),
    items: field(
      2,
      list(KeyToPath),
      "Keys that become files, with their paths; all keys when empty.",
    ).atomic(),
    optional: field(4, bool, "Whether the secret or its keys may be missing.").nullable(),
  },
  { check: namedObject },
);

const DownwardAPIProjection = struct(
  "DownwardAPIProjection",
  "Facts about the pod among the sources of a directory.",
  {
    items: field(1, list(DownwardAPIVolumeFile), "The files.").atomic(),
  },
);

const ConfigMapProjection = struct(
  "ConfigMapProjection",
  "A config map among the sources of a directory.",
  {
    ...inlined(1, LocalObjectReference),
    items: field(
      2,
      list(KeyToPath),
      "Keys that become files, with their paths; all keys when empty.",
    ).atomic(),
    optional: field(4, bool, "Whether the map or its keys may be missing.").nullable(),
  },
  { check: namedObject },
);

const ServiceAccountTokenProjection = struct(
  "ServiceAccountTokenProjection",
  "A token of the service account as a file.",
  {
    audience: field(1, string, "Audience of the token; the server if empty."),
    expirationSeconds: field(2, int64, "Seconds that the token is wanted to be valid; at least 600.")
      .nullable()
      .unpublishedDefault(3600)
      .check(tokenSeconds),
    path: field(3, string, "Path of the file below the mount point.").required().check(volumeFilePath),
  },
);

const VolumeProjection = struct("VolumeProjection", "One source of files; exactly one kind is given.", {
  secret: field(1, SecretProjection, "Data of a secret.").nullable(),
  downwardAPI: field(2, DownwardAPIProjection, "Facts about the pod.").nullable(),
  configMap: field(3, ConfigMapProjection, "Data of a config map.").nullable(),
  serviceAccountToken: field(4, ServiceAccountTokenProjection, "A token of the service account.").nullable(),
});

export const ProjectedVolumeSource = struct(
  "ProjectedVolumeSource",
  "Several sources of files in one directory.",
  {
    sources: field(1, list(VolumeProjection), "The sources.").emitEmpty().atomic(),
    defaultMode: field(2, int32, "Permissions of files that have none of their own.")
      .nullable()
      .unpublishedDefault(420)
      .check(fileMode),
  },
  { check: checkSources },
);
