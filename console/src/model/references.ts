import { isRecord } from "./paths.ts";
import type { ResourceType } from "./resource-types.ts";

/** An object that another one refers to. */
export interface Reference {
  /** Path of the field with the reference, such as `spec.serviceAccountName`. */
  readonly path: string;
  readonly type: ResourceType;
  /** Empty for objects of the cluster. */
  readonly namespace: string;
  readonly name: string;
}

/** The types of a server, by kind. */
export interface KnownTypes {
  readonly types: readonly ResourceType[];
  /** Last words of the server's own API groups, for example `platform.io`. */
  readonly groupSuffix: string;
}

/** A built-in kind: its group without the suffix of the server, and its name. */
type BuiltIn = readonly [group: string, kind: string];

const secret: BuiltIn = ["", "Secret"];
const configMap: BuiltIn = ["", "ConfigMap"];
const service: BuiltIn = ["", "Service"];

/** Fields whose text is a name. */
const nameFields: Readonly<Record<string, BuiltIn>> = {
  claimName: ["", "PersistentVolumeClaim"],
  ingressClassName: ["networking", "IngressClass"],
  nodeName: ["", "Node"],
  persistentVolumeName: ["", "PersistentVolume"],
  policyName: ["admissionregistration", "ValidatingAdmissionPolicy"],
  priorityClassName: ["scheduling", "PriorityClass"],
  runtimeClassName: ["node", "RuntimeClass"],
  secretName: secret,
  serviceAccountName: ["", "ServiceAccount"],
  serviceName: service,
  storageClassName: ["storage", "StorageClass"],
  volumeName: ["", "PersistentVolume"],
};

/** Fields with an object, or a list of objects, whose member `name` is a name; `namespace` may be beside it. */
const objectFields: Readonly<Record<string, BuiltIn>> = {
  configMap,
  configMapKeyRef: configMap,
  configMapRef: configMap,
  imagePullSecrets: secret,
  secret,
  secretKeyRef: secret,
  secretRef: secret,
  secrets: secret,
  service,
  serviceAccountRef: ["", "ServiceAccount"],
};

/** Values beyond this number are not visited, and references beyond theirs are left out. */
const [maxVisited, maxReferences] = [20_000, 200];

/** Fields that list references of another kind, or repeat the object. */
const skipped = new Set(["managedFields", "ownerReferences"]);

interface Source {
  readonly metadata: { readonly namespace?: string };
}

/** Returns the references of an object in the order of its fields. Kinds that the server doesn't serve are left out. */
export function referencesOf(object: Source & object, known: KnownTypes): Reference[] {
  const references: Reference[] = [];
  const { namespace: ownNamespace = "" } = object.metadata;
  let visited = 0;
  const add = (path: string, type: ResourceType | undefined, name: unknown, namespace: unknown) => {
    if (type === undefined || typeof name !== "string" || name === "" || references.length >= maxReferences)
      return;
    const scope = typeof namespace === "string" && namespace !== "" ? namespace : ownNamespace;
    references.push({ path, type, namespace: type.namespaced ? scope : "", name });
  };
  const visit = (value: unknown, path: string, field: string): void => {
    if (++visited > maxVisited) return;
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) visit(item, `${path}[${at}]`, field);
      return;
    }
    if (!isRecord(value)) return;
    const { kind, name, namespace, apiVersion, apiGroup } = value;
    const namesKind = typeof kind === "string" && typeof name === "string" && path !== "";
    if (namesKind) add(`${path}.name`, namedType(known, kind, apiVersion, apiGroup), name, namespace);
    else if (Object.hasOwn(objectFields, field)) {
      add(`${path}.name`, builtInType(known, objectFields[field]!), name, namespace);
    }
    for (const [key, member] of Object.entries(value)) {
      if (skipped.has(key)) continue;
      const below = path === "" ? key : `${path}.${key}`;
      if (typeof member === "string") {
        if (Object.hasOwn(nameFields, key))
          add(below, builtInType(known, nameFields[key]!), member, undefined);
      } else if (typeof member === "object" && member !== null) visit(member, below, key);
    }
  };
  visit(object, "", "");
  return references;
}

/** Returns a built-in kind of the server. */
export function builtInType(
  { types, groupSuffix }: KnownTypes,
  [group, kind]: BuiltIn,
): ResourceType | undefined {
  return types.find((one) => one.kind === kind && plainGroup(one.group, groupSuffix) === group);
}

/** Returns a group without the suffix of the server's own groups. */
export function plainGroup(group: string, groupSuffix: string): string {
  const suffix = `.${groupSuffix}`;
  return group.endsWith(suffix) ? group.slice(0, -suffix.length) : group;
}

/** Returns the kind of a reference with `apiVersion` or `apiGroup`; without them the core group, or the only group with the kind. */
function namedType(
  { types }: KnownTypes,
  kind: string,
  apiVersion: unknown,
  apiGroup: unknown,
): ResourceType | undefined {
  const ofKind = types.filter((one) => one.kind === kind);
  const group =
    typeof apiVersion === "string"
      ? apiVersion.includes("/")
        ? apiVersion.slice(0, apiVersion.indexOf("/"))
        : ""
      : typeof apiGroup === "string"
        ? apiGroup
        : undefined;
  if (group !== undefined) return ofKind.find((one) => one.group === group);
  return ofKind.find((one) => one.group === "") ?? (ofKind.length === 1 ? ofKind[0] : undefined);
}

const podUsers: readonly BuiltIn[] = [
  ["", "Pod"],
  ["apps", "Deployment"],
  ["apps", "StatefulSet"],
  ["apps", "DaemonSet"],
  ["batch", "Job"],
  ["batch", "CronJob"],
];
const roleBindings: readonly BuiltIn[] = [
  ["rbac.authorization", "RoleBinding"],
  ["rbac.authorization", "ClusterRoleBinding"],
];
const webhooks: readonly BuiltIn[] = [
  ["admissionregistration", "ValidatingWebhookConfiguration"],
  ["admissionregistration", "MutatingWebhookConfiguration"],
  ["apiregistration", "APIService"],
];

/** Built-in kinds whose objects may refer to a kind. */
const usersByKind: Readonly<Record<string, readonly BuiltIn[]>> = {
  "/ConfigMap": podUsers,
  "/Secret": [...podUsers, ["", "ServiceAccount"], ["networking", "Ingress"]],
  "/ServiceAccount": [...podUsers, ...roleBindings],
  "/PersistentVolumeClaim": podUsers,
  "/PersistentVolume": [
    ["", "PersistentVolumeClaim"],
    ["storage", "VolumeAttachment"],
  ],
  "/Node": [
    ["", "Pod"],
    ["storage", "VolumeAttachment"],
  ],
  "/Service": [["networking", "Ingress"], ["apps", "StatefulSet"], ...webhooks],
  "rbac.authorization/Role": roleBindings,
  "rbac.authorization/ClusterRole": roleBindings,
  "storage/StorageClass": [
    ["", "PersistentVolumeClaim"],
    ["", "PersistentVolume"],
  ],
  "networking/IngressClass": [["networking", "Ingress"]],
  "scheduling/PriorityClass": podUsers,
  "node/RuntimeClass": podUsers,
  "apps/Deployment": [["autoscaling", "HorizontalPodAutoscaler"]],
  "apps/StatefulSet": [["autoscaling", "HorizontalPodAutoscaler"]],
  "apps/ReplicaSet": [["autoscaling", "HorizontalPodAutoscaler"]],
  "admissionregistration/ValidatingAdmissionPolicy": [
    ["admissionregistration", "ValidatingAdmissionPolicyBinding"],
  ],
};

/** Kinds whose selectors may select a kind. */
const selecting: Readonly<Record<string, readonly BuiltIn[]>> = {
  "/Pod": [
    ["", "Service"],
    ["apps", "Deployment"],
    ["apps", "ReplicaSet"],
    ["apps", "StatefulSet"],
    ["apps", "DaemonSet"],
    ["networking", "NetworkPolicy"],
    ["policy", "PodDisruptionBudget"],
  ],
};

/** Custom kinds beyond this number are not searched for references. */
const maxCustom = 20;

/** `networking/Ingress`: the key of tables by kind, in both vocabularies. */
export function kindKey({ group, kind }: ResourceType, groupSuffix: string): string {
  return `${plainGroup(group, groupSuffix)}/${kind}`;
}

/** Returns the types whose objects may refer to objects of a type, or select them: built-in kinds that can, and custom kinds. */
export function usersOf(type: ResourceType, known: KnownTypes): readonly ResourceType[] {
  const { types, groupSuffix } = known;
  const key = kindKey(type, groupSuffix);
  const builtIn = [...(usersByKind[key] ?? []), ...(selecting[key] ?? [])].map((one) =>
    builtInType(known, one),
  );
  const custom = types.filter(
    ({ group, verbs }) =>
      group.includes(".") &&
      !group.endsWith(`.${groupSuffix}`) &&
      verbs.includes("list") &&
      verbs.includes("delete"),
  );
  return [...builtIn.filter((one) => one !== undefined), ...custom.slice(0, maxCustom)];
}
