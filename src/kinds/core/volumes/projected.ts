import { LocalObjectReference } from "../references.ts";
import { struct } from "../v1.ts";
import { between, fileMode } from "../../checks/numbers.ts";
import { labelSelector } from "../../checks/selectors.ts";
import { LabelSelector } from "../../meta/label-selector.ts";
import { volumeFilePath } from "../../checks/paths.ts";
import { namedObject } from "./volume-rules.ts";
import { certificateKeyTypes, checkSources, checkTrustBundles, tokenSeconds } from "./projected-rules.ts";
import { DownwardAPIVolumeFile, KeyToPath, volumeUser } from "./files.ts";
import { since } from "../../../schema/later-fields.ts";
import { bool, field, inlined, int32, int64, list, map, string } from "../../../schema/types.ts";

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
  { later: () => ({ user: volumeUser(4) }) },
);

const ClusterTrustBundleProjection = struct(
  "ClusterTrustBundleProjection",
  "The certificates of trust bundles as a file; selected by name, or by signer and labels.",
  {
    name: field(1, string, "Name of the bundle.").nullable(),
    signerName: field(2, string, "Signer whose bundles are written.").nullable(),
    labelSelector: field(3, LabelSelector, "Selects bundles of the signer.").nullable().check(labelSelector),
    optional: field(5, bool, "Whether the bundles may be missing.").nullable(),
    path: field(4, string, "Path of the file below the mount point.").required().check(volumeFilePath),
  },
  { check: checkTrustBundles, later: () => ({ user: volumeUser(6) }) },
);

const PodCertificateProjection = struct(
  "PodCertificateProjection",
  "A key and a certificate of the pod as files.",
  {
    signerName: field(1, string, "Signer of the certificate.").mustBeGiven(),
    keyType: field(2, string, "Type of the key.")
      .mustBeGiven()
      .oneOf(...certificateKeyTypes),
    maxExpirationSeconds: field(3, int32, "Longest validity in seconds.")
      .nullable()
      .check(between(3600, 7_862_400)),
    credentialBundlePath: field(4, string, "Path of the file with key and certificates.").check(
      volumeFilePath,
    ),
    keyPath: field(5, string, "Path of the file with the key.").check(volumeFilePath),
    certificateChainPath: field(6, string, "Path of the file with the certificates.").check(volumeFilePath),
  },
  {
    later: () => ({
      userAnnotations: since("1.35", field(7, map(string), "Annotations of the certificate request.")),
      user: volumeUser(8),
    }),
  },
);

const VolumeProjection = struct(
  "VolumeProjection",
  "One source of files; exactly one kind is given.",
  {
    secret: field(1, SecretProjection, "Data of a secret.").nullable(),
    downwardAPI: field(2, DownwardAPIProjection, "Facts about the pod.").nullable(),
    configMap: field(3, ConfigMapProjection, "Data of a config map.").nullable(),
    serviceAccountToken: field(
      4,
      ServiceAccountTokenProjection,
      "A token of the service account.",
    ).nullable(),
  },
  {
    later: () => ({
      clusterTrustBundle: since(
        "1.29",
        field(5, ClusterTrustBundleProjection, "Certificates of trust bundles.")
          .nullable()
          .gated("ClusterTrustBundleProjection"),
      ),
      podCertificate: since(
        "1.34",
        field(6, PodCertificateProjection, "A certificate of the pod.")
          .nullable()
          .gated("PodCertificateRequest"),
      ),
    }),
  },
);

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
  { check: checkSources, later: () => ({ defaultUser: volumeUser(3) }) },
);
