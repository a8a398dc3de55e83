import { objectKey, type NeededType, type PodReferences, type VolumeReferences } from "./node-graph.ts";

type Json = Readonly<Record<string, unknown>>;

/** Pods and volumes are read as they are stored: what isn't there is left out. */
function at(value: unknown, ...steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (inner, step) => (typeof inner === "object" && inner !== null ? (inner as Json)[step] : undefined),
    value,
  );
}

function textAt(value: unknown, ...steps: readonly string[]): string {
  const found = at(value, ...steps);
  return typeof found === "string" ? found : "";
}

function listAt(value: unknown, ...steps: readonly string[]): readonly unknown[] {
  const found = at(value, ...steps);
  return Array.isArray(found) ? found : [];
}

/**
 * What a pod refers to; undefined for one that is on no node.
 *
 * @param mirrorAnnotation marks pods that an agent made for itself; they refer to nothing, whatever they say.
 */
export function podReferences(pod: unknown, mirrorAnnotation: string): PodReferences | undefined {
  const node = textAt(pod, "spec", "nodeName");
  if (node === "") return undefined;
  if (at(pod, "metadata", "annotations", mirrorAnnotation) !== undefined) return { node, objects: [] };
  const namespace = textAt(pod, "metadata", "namespace");
  const objects = podObjects(pod).flatMap(([type, names]) =>
    names.map((name) => objectKey(type, namespace, name)),
  );
  return { node, objects: [...new Set(objects)] };
}

/** The names of the objects that a pod refers to, by type; mirror pods are no exception. */
export function podObjects(pod: unknown): [type: NeededType, names: string[]][] {
  const named: [NeededType, string[]][] = [
    ["serviceaccount", [textAt(pod, "spec", "serviceAccountName")]],
    ["secret", secretNames(pod)],
    ["configmap", configMapNames(pod)],
    ["claim", claimNames(pod)],
  ];
  return named.map(([type, names]) => [type, names.filter((name) => name !== "")]);
}

/** Where volumes of pods name secrets. */
const secretPlaces = [
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
    ...listAt(pod, "spec", "imagePullSecrets").map((one) => textAt(one, "name")),
    ...inEnvironments(pod, "secretKeyRef", "secretRef"),
    ...listAt(pod, "spec", "volumes").flatMap((volume) => [
      ...secretPlaces.map((place) => textAt(volume, ...place)),
      ...listAt(volume, "projected", "sources").map((source) => textAt(source, "secret", "name")),
    ]),
  ];
}

function configMapNames(pod: unknown): string[] {
  return [
    ...inEnvironments(pod, "configMapKeyRef", "configMapRef"),
    ...listAt(pod, "spec", "volumes").flatMap((volume) => [
      textAt(volume, "configMap", "name"),
      ...listAt(volume, "projected", "sources").map((source) => textAt(source, "configMap", "name")),
    ]),
  ];
}

/** Names to which the environments of all containers refer, one variable or many at a time. */
function inEnvironments(pod: unknown, one: string, many: string): string[] {
  return ["initContainers", "containers", "ephemeralContainers"]
    .flatMap((containers) => listAt(pod, "spec", containers))
    .flatMap((container) => [
      ...listAt(container, "env").map((variable) => textAt(variable, "valueFrom", one, "name")),
      ...listAt(container, "envFrom").map((source) => textAt(source, many, "name")),
    ]);
}

function claimNames(pod: unknown): string[] {
  return listAt(pod, "spec", "volumes").map((volume) => {
    if (at(volume, "ephemeral") === undefined) return textAt(volume, "persistentVolumeClaim", "claimName");
    return `${textAt(pod, "metadata", "name")}-${textAt(volume, "name")}`;
  });
}

/** Where persistent volumes name secrets that nodes need, each with its namespace or in that of the claim. */
const volumeSecrets = [
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

/** The objects that a persistent volume refers to; undefined for one that is bound to no claim. */
export function volumeReferences(volume: unknown): VolumeReferences | undefined {
  const spec = at(volume, "spec");
  const name = textAt(spec, "claimRef", "name");
  if (name === "") return undefined;
  const claimNamespace = textAt(spec, "claimRef", "namespace");
  const found = [
    [textAt(spec, "azureFile", "secretNamespace"), textAt(spec, "azureFile", "secretName")],
    ...volumeSecrets.map((place) => [textAt(spec, ...place, "namespace"), textAt(spec, ...place, "name")]),
  ] as [string, string][];
  const secrets = found
    .filter(([, secret]) => secret !== "")
    .map(([namespace, secret]) => objectKey("secret", namespace === "" ? claimNamespace : namespace, secret));
  return { claim: objectKey("claim", claimNamespace, name), secrets: [...new Set(secrets)] };
}

/** The node to which a volume is attached by an attachment. */
export function attachedNode(attachment: unknown): string | undefined {
  const node = textAt(attachment, "spec", "nodeName");
  return node === "" ? undefined : node;
}
