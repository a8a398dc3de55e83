import { objectKey, type SpecNeededType, type PodReferences, type VolumeReferences } from "./node-graph.ts";

type Json = Readonly<Record<string, unknown>>;

/** Returns the value at a path of a stored object; undefined if any step is missing. */
function valueAt(value: unknown, ...steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (inner, step) => (typeof inner === "object" && inner !== null ? (inner as Json)[step] : undefined),
    value,
  );
}

function stringAt(value: unknown, ...steps: readonly string[]): string {
  const member = valueAt(value, ...steps);
  return typeof member === "string" ? member : "";
}

function listAt(value: unknown, ...steps: readonly string[]): readonly unknown[] {
  const member = valueAt(value, ...steps);
  return Array.isArray(member) ? member : [];
}

/**
 * Returns the objects to which a pod refers; undefined if it has no node.
 *
 * @param mirrorAnnotation annotation of mirror pods. Their references are ignored, because the agent creates them itself.
 * @param withResourceClaims whether agents read the resource claims of their pods.
 */
export function podReferences(
  pod: unknown,
  mirrorAnnotation: string,
  withResourceClaims = false,
): PodReferences | undefined {
  const node = stringAt(pod, "spec", "nodeName");
  if (node === "") return undefined;
  if (valueAt(pod, "metadata", "annotations", mirrorAnnotation) !== undefined) return { node, objects: [] };
  const namespace = stringAt(pod, "metadata", "namespace");
  const objects = podObjects(pod).flatMap(([type, names]) =>
    names.map((name) => objectKey(type, namespace, name)),
  );
  if (withResourceClaims) {
    for (const name of resourceClaimNames(pod)) objects.push(objectKey("resourceclaim", namespace, name));
  }
  return { node, objects: [...new Set(objects)] };
}

/** Returns the names of the objects to which a pod refers, by type. Includes the references of mirror pods. */
export function podObjects(pod: unknown): [type: SpecNeededType, names: string[]][] {
  const references: [SpecNeededType, string[]][] = [
    ["serviceaccount", [stringAt(pod, "spec", "serviceAccountName")]],
    ["secret", secretNames(pod)],
    ["configmap", configMapNames(pod)],
    ["claim", claimNames(pod)],
  ];
  return references.map(([type, names]) => [type, names.filter((name) => name !== "")]);
}

/** Returns the names of the resource claims of a pod; a claim from a template has one when its name is in the status. */
function resourceClaimNames(pod: unknown): string[] {
  const created = new Map(
    listAt(pod, "status", "resourceClaimStatuses").map((one) => [
      stringAt(one, "name"),
      stringAt(one, "resourceClaimName"),
    ]),
  );
  const names = listAt(pod, "spec", "resourceClaims").map((claim) => {
    // Releases before 1.31 have the names in `source`.
    const source = valueAt(claim, "source") ?? claim;
    const name = stringAt(source, "resourceClaimName");
    return name === "" ? (created.get(stringAt(claim, "name")) ?? "") : name;
  });
  names.push(stringAt(pod, "status", "extendedResourceClaimStatus", "resourceClaimName"));
  return names.filter((name) => name !== "");
}

/** Paths of secret names in a volume of a pod. */
const secretPaths = [
  ["azureFile", "secretName"],
  ["cephfs", "secretRef", "name"],
  ["cinder", "secretRef", "name"],
  ["csi", "nodePublishSecretRef", "name"],
  ["flexVolume", "secretRef", "name"],
  ["iscsi", "secretRef", "name"],
  ["rbd", "secretRef", "name"],
  ["scaleIO", "secretRef", "name"],
  ["secret", "secretName"],
  ["storageos", "secretRef", "name"],
] as const;

function secretNames(pod: unknown): string[] {
  return [
    ...listAt(pod, "spec", "imagePullSecrets").map((one) => stringAt(one, "name")),
    ...environmentReferences(pod, "secretKeyRef", "secretRef"),
    ...listAt(pod, "spec", "volumes").flatMap((volume) => [
      ...secretPaths.map((path) => stringAt(volume, ...path)),
      ...listAt(volume, "projected", "sources").map((source) => stringAt(source, "secret", "name")),
    ]),
  ];
}

function configMapNames(pod: unknown): string[] {
  return [
    ...environmentReferences(pod, "configMapKeyRef", "configMapRef"),
    ...listAt(pod, "spec", "volumes").flatMap((volume) => [
      stringAt(volume, "configMap", "name"),
      ...listAt(volume, "projected", "sources").map((source) => stringAt(source, "configMap", "name")),
    ]),
  ];
}

/** Returns the names in `env` (field `one`) and `envFrom` (field `many`) of all containers. */
function environmentReferences(pod: unknown, one: string, many: string): string[] {
  return ["initContainers", "containers", "ephemeralContainers"]
    .flatMap((containers) => listAt(pod, "spec", containers))
    .flatMap((container) => [
      ...listAt(container, "env").map((variable) => stringAt(variable, "valueFrom", one, "name")),
      ...listAt(container, "envFrom").map((source) => stringAt(source, many, "name")),
    ]);
}

/** Returns the names of the claims of a pod, including those of its ephemeral volumes. */
export function claimNames(pod: unknown): string[] {
  const names = listAt(pod, "spec", "volumes").map((volume) => {
    if (valueAt(volume, "ephemeral") === undefined)
      return stringAt(volume, "persistentVolumeClaim", "claimName");
    return `${stringAt(pod, "metadata", "name")}-${stringAt(volume, "name")}`;
  });
  return names.filter((name) => name !== "");
}

/** Paths of secret references in a persistent volume. The namespace defaults to that of the claim. */
const volumeSecretPaths = [
  ["cephfs", "secretRef"],
  ["cinder", "secretRef"],
  ["csi", "nodeExpandSecretRef"],
  ["csi", "nodePublishSecretRef"],
  ["csi", "nodeStageSecretRef"],
  ["flexVolume", "secretRef"],
  ["iscsi", "secretRef"],
  ["rbd", "secretRef"],
  ["scaleIO", "secretRef"],
  ["storageos", "secretRef"],
] as const;

/** Returns the objects to which a persistent volume refers; undefined if it isn't bound. */
export function volumeReferences(volume: unknown): VolumeReferences | undefined {
  const spec = valueAt(volume, "spec");
  const name = stringAt(spec, "claimRef", "name");
  if (name === "") return undefined;
  const claimNamespace = stringAt(spec, "claimRef", "namespace");
  const references = [
    [stringAt(spec, "azureFile", "secretNamespace"), stringAt(spec, "azureFile", "secretName")],
    ...volumeSecretPaths.map((path) => [
      stringAt(spec, ...path, "namespace"),
      stringAt(spec, ...path, "name"),
    ]),
  ] as [string, string][];
  const secrets = references
    .filter(([, secret]) => secret !== "")
    .map(([namespace, secret]) => objectKey("secret", namespace === "" ? claimNamespace : namespace, secret));
  return { claim: objectKey("claim", claimNamespace, name), secrets: [...new Set(secrets)] };
}

/** Returns the node in the spec of a volume attachment or of another object. */
export function attachedNode(object: unknown): string | undefined {
  const node = stringAt(object, "spec", "nodeName");
  return node === "" ? undefined : node;
}
