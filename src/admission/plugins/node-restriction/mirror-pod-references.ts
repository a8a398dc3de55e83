import { byRelease, since } from "../../../base/release-rows.ts";
import { podObjects } from "../../../authorization/node/references.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import { podReference } from "./pods.ts";
import { isSet, projectedSources, volumesOf, type ProjectedSource, type Volume } from "./volume-types.ts";

type FindReference = (pod: ApiObject) => string | undefined;

/** Returns how a release finds a type of objects that a mirror pod refers to; undefined if the release doesn't check them. */
export const mirrorPodReference = byRelease<FindReference | undefined>(
  undefined,
  since("1.29", firstReference),
  since("1.32", (pod) => firstReference(pod) ?? (hasResourceClaims(pod) ? "resourceclaims" : undefined)),
  since("1.34", anyReference),
);

function firstReference(pod: ApiObject): string | undefined {
  const reference = podReference(pod);
  if (reference !== undefined) return reference;
  return projectedSources(pod).some((source) => isSet(source.clusterTrustBundle))
    ? "clustertrustbundles"
    : undefined;
}

function hasResourceClaims(pod: ApiObject): boolean {
  return ((pod["spec"] as { readonly resourceClaims?: readonly unknown[] }).resourceClaims ?? []).length > 0;
}

const referenceNames = { serviceaccount: "serviceaccounts", secret: "secrets", configmap: "configmaps" };

function anyReference(pod: ApiObject): string | undefined {
  for (const [type, names] of podObjects(pod)) {
    if (type !== "claim" && names.length > 0) return referenceNames[type];
  }
  if (hasResourceClaims(pod)) return "resourceclaims";
  for (const volume of volumesOf(pod)) {
    const reference = volumeReference(volume);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

/** Volumes that refer to objects, by their field. */
const volumeReferences: readonly (readonly [field: string, reference: string])[] = [
  ["configMap", "configmaps (via configmap volumes)"],
  ["secret", "secrets (via secret volumes)"],
  ["csi", "csidrivers (via CSI volumes)"],
  ["glusterfs", "endpoints (via glusterFS volumes)"],
  ["persistentVolumeClaim", "persistentvolumeclaims"],
  ["ephemeral", "persistentvolumeclaims (via ephemeral volumes)"],
  ["azureFile", "secrets (via azureFile volumes)"],
];

/** Sources of projected volumes that refer to objects. */
const sourceReferences: readonly (readonly [field: keyof ProjectedSource, reference: string])[] = [
  ["configMap", "configmaps (via projected volumes)"],
  ["secret", "secrets (via projected volumes)"],
  ["serviceAccountToken", "serviceaccounts (via projected volumes)"],
  ["clusterTrustBundle", "clustertrustbundles"],
  ["podCertificate", "podcertificates"],
];

function volumeReference(volume: Volume): string | undefined {
  const own = volumeReferences.find(([field]) => isSet(volume[field]));
  if (own !== undefined) return own[1];
  for (const source of volume.projected?.sources ?? []) {
    const reference = sourceReferences.find(([field]) => isSet(source[field]));
    if (reference !== undefined) return reference[1];
    if (!isSet(source.downwardAPI)) return "objects (via an unknown source of a projected volume)";
  }
  return undefined;
}
