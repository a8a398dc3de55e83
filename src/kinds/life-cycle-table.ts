import type { Group, GroupVersion } from "../schema/types.ts";
import {
  admissionregistration,
  apiextensions,
  apiregistration,
  apps,
  authentication,
  authorization,
  autoscaling,
  batch,
  certificates,
  coordination,
  core,
  discovery,
  events,
  flowcontrol,
  insight,
  internalApiserver,
  networking,
  node,
  policy,
  rbac,
  resource,
  scheduling,
  storage,
} from "./groups.ts";

/** Releases in which a kind was introduced, deprecated and removed in one version, such as `1.26` (spec: conventions 9). */
export interface LifeCycle {
  readonly group: Group;
  readonly version: string;
  readonly kind: string;
  readonly introduced: string;
  readonly deprecated?: string;
  readonly removed?: string;
  /** The group version that replaces it. */
  readonly replacement?: GroupVersion;
}

/** A group that no release serves any more. */
const extensions: Group = { base: "extensions", suffixed: false };

type Releases = Omit<LifeCycle, "group" | "version" | "kind">;

function kinds(group: Group, version: string, releases: Releases, names: readonly string[]): LifeCycle[] {
  return names.map((kind) => ({ group, version, kind, ...releases }));
}

function at(group: Group, version: string): GroupVersion {
  return { group, version };
}

/** Every kind in every version that was ever served, by default or on demand. */
export const lifeCycles: readonly LifeCycle[] = [
  ...kinds(core, "v1", { introduced: "1.0" }, [
    "Binding",
    "Endpoints",
    "Event",
    "LimitRange",
    "Namespace",
    "Node",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "Pod",
    "PodTemplate",
    "ReplicationController",
    "ResourceQuota",
    "Secret",
    "ServiceAccount",
    "Service",
  ]),
  ...kinds(core, "v1", { introduced: "1.0", deprecated: "1.19" }, ["ComponentStatus"]),
  ...kinds(core, "v1", { introduced: "1.2" }, ["ConfigMap"]),
  ...kinds(admissionregistration, "v1", { introduced: "1.16" }, [
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
  ]),
  ...kinds(
    admissionregistration,
    "v1alpha1",
    { introduced: "1.26", deprecated: "1.29", removed: "1.32", replacement: at(admissionregistration, "v1") },
    ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
  ),
  ...kinds(
    admissionregistration,
    "v1beta1",
    { introduced: "1.28", deprecated: "1.31", removed: "1.34", replacement: at(admissionregistration, "v1") },
    ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
  ),
  ...kinds(admissionregistration, "v1", { introduced: "1.30" }, [
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
  ]),
  ...kinds(
    admissionregistration,
    "v1beta1",
    { introduced: "1.9", deprecated: "1.16", removed: "1.22", replacement: at(admissionregistration, "v1") },
    ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
  ),
  ...kinds(apiextensions, "v1", { introduced: "1.16" }, ["CustomResourceDefinition"]),
  ...kinds(
    apiextensions,
    "v1beta1",
    { introduced: "1.7", deprecated: "1.16", removed: "1.22", replacement: at(apiextensions, "v1") },
    ["CustomResourceDefinition"],
  ),
  ...kinds(apiregistration, "v1", { introduced: "1.10" }, ["APIService"]),
  ...kinds(
    apiregistration,
    "v1beta1",
    { introduced: "1.7", deprecated: "1.19", removed: "1.22", replacement: at(apiregistration, "v1") },
    ["APIService"],
  ),
  ...kinds(apps, "v1", { introduced: "1.9" }, [
    "ControllerRevision",
    "DaemonSet",
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
  ]),
  ...kinds(
    apps,
    "v1beta1",
    { introduced: "1.7", deprecated: "1.8", removed: "1.16", replacement: at(apps, "v1") },
    ["ControllerRevision"],
  ),
  ...kinds(
    apps,
    "v1beta1",
    { introduced: "1.6", deprecated: "1.8", removed: "1.16", replacement: at(apps, "v1") },
    ["Deployment"],
  ),
  ...kinds(
    apps,
    "v1beta1",
    { introduced: "1.5", deprecated: "1.8", removed: "1.16", replacement: at(apps, "v1") },
    ["StatefulSet"],
  ),
  ...kinds(
    apps,
    "v1beta2",
    { introduced: "1.8", deprecated: "1.9", removed: "1.16", replacement: at(apps, "v1") },
    ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
  ),
  ...kinds(authentication, "v1", { introduced: "1.6" }, ["TokenReview"]),
  ...kinds(authentication, "v1", { introduced: "1.28" }, ["SelfSubjectReview"]),
  ...kinds(authentication, "v1beta1", { introduced: "1.27", deprecated: "1.30", removed: "1.33" }, [
    "SelfSubjectReview",
  ]),
  ...kinds(authentication, "v1alpha1", { introduced: "1.25", deprecated: "1.28", removed: "1.31" }, [
    "SelfSubjectReview",
  ]),
  ...kinds(
    authentication,
    "v1beta1",
    { introduced: "1.4", deprecated: "1.19", removed: "1.22", replacement: at(authentication, "v1") },
    ["TokenReview"],
  ),
  ...kinds(authorization, "v1", { introduced: "1.6" }, [
    "LocalSubjectAccessReview",
    "SelfSubjectAccessReview",
    "SubjectAccessReview",
  ]),
  ...kinds(authorization, "v1", { introduced: "1.8" }, ["SelfSubjectRulesReview"]),
  ...kinds(
    authorization,
    "v1beta1",
    { introduced: "1.2", deprecated: "1.19", removed: "1.22", replacement: at(authorization, "v1") },
    ["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"],
  ),
  ...kinds(
    authorization,
    "v1beta1",
    { introduced: "1.8", deprecated: "1.19", removed: "1.22", replacement: at(authorization, "v1") },
    ["SelfSubjectRulesReview"],
  ),
  ...kinds(autoscaling, "v1", { introduced: "1.2" }, ["HorizontalPodAutoscaler"]),
  ...kinds(autoscaling, "v2", { introduced: "1.23" }, ["HorizontalPodAutoscaler"]),
  ...kinds(
    autoscaling,
    "v2beta1",
    { introduced: "1.8", deprecated: "1.22", removed: "1.25", replacement: at(autoscaling, "v2") },
    ["HorizontalPodAutoscaler"],
  ),
  ...kinds(
    autoscaling,
    "v2beta2",
    { introduced: "1.12", deprecated: "1.23", removed: "1.26", replacement: at(autoscaling, "v2") },
    ["HorizontalPodAutoscaler"],
  ),
  ...kinds(batch, "v1", { introduced: "1.21" }, ["CronJob"]),
  ...kinds(batch, "v1", { introduced: "1.2" }, ["Job"]),
  ...kinds(
    batch,
    "v1beta1",
    { introduced: "1.8", deprecated: "1.21", removed: "1.25", replacement: at(batch, "v1") },
    ["CronJob"],
  ),
  ...kinds(batch, "v2alpha1", { introduced: "1.5", removed: "1.21", replacement: at(batch, "v1") }, [
    "CronJob",
  ]),
  ...kinds(certificates, "v1", { introduced: "1.19" }, ["CertificateSigningRequest"]),
  ...kinds(
    certificates,
    "v1beta1",
    { introduced: "1.12", deprecated: "1.19", removed: "1.22", replacement: at(certificates, "v1") },
    ["CertificateSigningRequest"],
  ),
  ...kinds(coordination, "v1", { introduced: "1.14" }, ["Lease"]),
  ...kinds(
    coordination,
    "v1beta1",
    { introduced: "1.12", deprecated: "1.19", removed: "1.22", replacement: at(coordination, "v1") },
    ["Lease"],
  ),
  ...kinds(discovery, "v1", { introduced: "1.21" }, ["EndpointSlice"]),
  ...kinds(discovery, "v1alpha1", { introduced: "1.16", removed: "1.21", replacement: at(discovery, "v1") }, [
    "EndpointSlice",
  ]),
  ...kinds(
    discovery,
    "v1beta1",
    { introduced: "1.16", deprecated: "1.21", removed: "1.25", replacement: at(discovery, "v1") },
    ["EndpointSlice"],
  ),
  ...kinds(events, "v1", { introduced: "1.19" }, ["Event"]),
  ...kinds(
    events,
    "v1beta1",
    { introduced: "1.8", deprecated: "1.22", removed: "1.25", replacement: at(events, "v1") },
    ["Event"],
  ),
  ...kinds(
    extensions,
    "v1beta1",
    { introduced: "1.1", deprecated: "1.8", removed: "1.16", replacement: at(apps, "v1") },
    ["DaemonSet", "Deployment"],
  ),
  ...kinds(
    extensions,
    "v1beta1",
    { introduced: "1.1", deprecated: "1.14", removed: "1.22", replacement: at(networking, "v1") },
    ["Ingress"],
  ),
  ...kinds(
    extensions,
    "v1beta1",
    { introduced: "1.3", deprecated: "1.9", removed: "1.16", replacement: at(networking, "v1") },
    ["NetworkPolicy"],
  ),
  ...kinds(
    extensions,
    "v1beta1",
    { introduced: "1.2", deprecated: "1.11", removed: "1.16", replacement: at(policy, "v1beta1") },
    ["PodSecurityPolicy"],
  ),
  ...kinds(
    extensions,
    "v1beta1",
    { introduced: "1.2", deprecated: "1.8", removed: "1.16", replacement: at(apps, "v1") },
    ["ReplicaSet"],
  ),
  ...kinds(
    flowcontrol,
    "v1alpha1",
    { introduced: "1.18", deprecated: "1.20", removed: "1.21", replacement: at(flowcontrol, "v1beta3") },
    ["FlowSchema", "PriorityLevelConfiguration"],
  ),
  ...kinds(
    flowcontrol,
    "v1beta1",
    { introduced: "1.20", deprecated: "1.23", removed: "1.26", replacement: at(flowcontrol, "v1beta3") },
    ["FlowSchema", "PriorityLevelConfiguration"],
  ),
  ...kinds(
    flowcontrol,
    "v1beta2",
    { introduced: "1.23", deprecated: "1.26", removed: "1.29", replacement: at(flowcontrol, "v1beta3") },
    ["FlowSchema", "PriorityLevelConfiguration"],
  ),
  ...kinds(flowcontrol, "v1beta3", { introduced: "1.26", deprecated: "1.29", removed: "1.32" }, [
    "FlowSchema",
    "PriorityLevelConfiguration",
  ]),
  ...kinds(flowcontrol, "v1", { introduced: "1.29" }, ["FlowSchema", "PriorityLevelConfiguration"]),
  // Specific to this product; no release of the reference has these.
  ...kinds(insight, "v1", { introduced: "1.26" }, [
    "AccessExplanation",
    "BulkAccessReview",
    "SubjectAccessList",
  ]),
  ...kinds(internalApiserver, "v1alpha1", { introduced: "1.20" }, ["StorageVersion"]),
  ...kinds(networking, "v1", { introduced: "1.19" }, ["IngressClass", "Ingress"]),
  ...kinds(networking, "v1", { introduced: "1.7" }, ["NetworkPolicy"]),
  ...kinds(networking, "v1alpha1", { introduced: "1.25", deprecated: "1.28", removed: "1.31" }, [
    "ClusterCIDR",
  ]),
  ...kinds(
    networking,
    "v1beta1",
    { introduced: "1.18", deprecated: "1.19", removed: "1.22", replacement: at(networking, "v1") },
    ["IngressClass"],
  ),
  ...kinds(
    networking,
    "v1beta1",
    { introduced: "1.14", deprecated: "1.19", removed: "1.22", replacement: at(networking, "v1") },
    ["Ingress"],
  ),
  ...kinds(node, "v1", { introduced: "1.20" }, ["RuntimeClass"]),
  ...kinds(node, "v1alpha1", { introduced: "1.12", removed: "1.22", replacement: at(node, "v1") }, [
    "RuntimeClass",
  ]),
  ...kinds(
    node,
    "v1beta1",
    { introduced: "1.13", deprecated: "1.22", removed: "1.25", replacement: at(node, "v1") },
    ["RuntimeClass"],
  ),
  ...kinds(policy, "v1", { introduced: "1.21" }, ["PodDisruptionBudget"]),
  ...kinds(
    policy,
    "v1beta1",
    { introduced: "1.5", deprecated: "1.21", removed: "1.25", replacement: at(policy, "v1") },
    ["PodDisruptionBudget"],
  ),
  ...kinds(policy, "v1beta1", { introduced: "1.10", deprecated: "1.21", removed: "1.25" }, [
    "PodSecurityPolicy",
  ]),
  ...kinds(rbac, "v1", { introduced: "1.8" }, ["ClusterRoleBinding", "ClusterRole", "RoleBinding", "Role"]),
  ...kinds(
    rbac,
    "v1alpha1",
    { introduced: "1.3", deprecated: "1.17", removed: "1.23", replacement: at(rbac, "v1") },
    ["ClusterRoleBinding", "ClusterRole", "RoleBinding", "Role"],
  ),
  ...kinds(
    rbac,
    "v1beta1",
    { introduced: "1.6", deprecated: "1.17", removed: "1.22", replacement: at(rbac, "v1") },
    ["ClusterRoleBinding", "ClusterRole", "RoleBinding", "Role"],
  ),
  ...kinds(resource, "v1alpha1", { introduced: "1.26" }, [
    "PodScheduling",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceClass",
  ]),
  ...kinds(scheduling, "v1", { introduced: "1.14" }, ["PriorityClass"]),
  ...kinds(
    scheduling,
    "v1alpha1",
    { introduced: "1.8", deprecated: "1.14", removed: "1.23", replacement: at(scheduling, "v1") },
    ["PriorityClass"],
  ),
  ...kinds(
    scheduling,
    "v1beta1",
    { introduced: "1.11", deprecated: "1.14", removed: "1.22", replacement: at(scheduling, "v1") },
    ["PriorityClass"],
  ),
  ...kinds(storage, "v1", { introduced: "1.18" }, ["CSIDriver"]),
  ...kinds(storage, "v1", { introduced: "1.17" }, ["CSINode"]),
  ...kinds(storage, "v1", { introduced: "1.24" }, ["CSIStorageCapacity"]),
  ...kinds(storage, "v1", { introduced: "1.6" }, ["StorageClass"]),
  ...kinds(storage, "v1", { introduced: "1.13" }, ["VolumeAttachment"]),
  ...kinds(
    storage,
    "v1alpha1",
    { introduced: "1.19", deprecated: "1.21", removed: "1.24", replacement: at(storage, "v1beta1") },
    ["CSIStorageCapacity"],
  ),
  ...kinds(
    storage,
    "v1alpha1",
    { introduced: "1.9", deprecated: "1.21", removed: "1.24", replacement: at(storage, "v1") },
    ["VolumeAttachment"],
  ),
  ...kinds(
    storage,
    "v1beta1",
    { introduced: "1.14", deprecated: "1.19", removed: "1.22", replacement: at(storage, "v1") },
    ["CSIDriver"],
  ),
  ...kinds(
    storage,
    "v1beta1",
    { introduced: "1.14", deprecated: "1.17", removed: "1.22", replacement: at(storage, "v1") },
    ["CSINode"],
  ),
  ...kinds(
    storage,
    "v1beta1",
    { introduced: "1.21", deprecated: "1.24", removed: "1.27", replacement: at(storage, "v1") },
    ["CSIStorageCapacity"],
  ),
  ...kinds(
    storage,
    "v1beta1",
    { introduced: "1.4", deprecated: "1.19", removed: "1.22", replacement: at(storage, "v1") },
    ["StorageClass"],
  ),
  ...kinds(
    storage,
    "v1beta1",
    { introduced: "1.10", deprecated: "1.19", removed: "1.22", replacement: at(storage, "v1") },
    ["VolumeAttachment"],
  ),
];
