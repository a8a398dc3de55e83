import type { Kind } from "../schema/kind.ts";
import { MutatingWebhookConfiguration } from "./admissionregistration/mutating-webhook-configuration.ts";
import { ValidatingAdmissionPolicyBinding } from "./admissionregistration/validating-admission-policy-binding.ts";
import { ValidatingAdmissionPolicy } from "./admissionregistration/validating-admission-policy.ts";
import { ValidatingWebhookConfiguration } from "./admissionregistration/validating-webhook-configuration.ts";
import { CustomResourceDefinition } from "./apiextensions/custom-resource-definition.ts";
import { APIService } from "./apiregistration/api-service.ts";
import { ControllerRevision } from "./apps/controller-revision.ts";
import { DaemonSet } from "./apps/daemon-set.ts";
import { Deployment } from "./apps/deployment.ts";
import { ReplicaSet } from "./apps/replica-set.ts";
import { StatefulSet } from "./apps/stateful-set.ts";
import { SelfSubjectReview } from "./authentication/self-subject-review.ts";
import { TokenReview } from "./authentication/token-review.ts";
import {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from "./authorization/reviews.ts";
import { HorizontalPodAutoscaler as HorizontalPodAutoscalerV1 } from "./autoscaling/horizontal-pod-autoscaler-v1.ts";
import { HorizontalPodAutoscaler } from "./autoscaling/horizontal-pod-autoscaler.ts";
import { CronJob } from "./batch/cron-job.ts";
import { Job } from "./batch/job.ts";
import { CertificateSigningRequest } from "./certificates/certificate-signing-request.ts";
import { Lease } from "./coordination/lease.ts";
import { Binding } from "./core/binding.ts";
import { ComponentStatus } from "./core/component-status.ts";
import { ConfigMap } from "./core/config-map.ts";
import { Endpoints } from "./core/endpoints.ts";
import { Event } from "./core/event.ts";
import { LimitRange } from "./core/limit-range.ts";
import { Namespace } from "./core/namespace.ts";
import { Node } from "./core/node/node.ts";
import { PersistentVolumeClaim } from "./core/persistent-volume-claim.ts";
import { PersistentVolume } from "./core/persistent-volume.ts";
import { PodTemplate } from "./core/pod-template.ts";
import { Pod } from "./core/pod/pod.ts";
import { ReplicationController } from "./core/replication-controller.ts";
import { ResourceQuota } from "./core/resource-quota.ts";
import { Secret } from "./core/secret.ts";
import { ServiceAccount } from "./core/service-account.ts";
import { Service } from "./core/service/service.ts";
import { EndpointSlice } from "./discovery/endpoint-slice.ts";
import { Event as EventsEvent } from "./events/event.ts";
import { FlowSchema, FlowSchemaV1beta2 } from "./flowcontrol/flow-schema.ts";
import {
  PriorityLevelConfiguration,
  PriorityLevelConfigurationV1beta2,
} from "./flowcontrol/priority-level-configuration.ts";
import { AccessExplanation } from "./insight/access-explanation.ts";
import { BulkAccessReview } from "./insight/bulk-access-review.ts";
import { SubjectAccessList } from "./insight/subject-access-list.ts";
import { StorageVersion } from "./internal-apiserver/storage-version.ts";
import { ClusterCIDR } from "./networking/cluster-cidr.ts";
import { IngressClass } from "./networking/ingress-class.ts";
import { Ingress } from "./networking/ingress.ts";
import { NetworkPolicy } from "./networking/network-policy.ts";
import { RuntimeClass } from "./node/runtime-class.ts";
import { PodDisruptionBudget } from "./policy/pod-disruption-budget.ts";
import { ClusterRoleBinding, RoleBinding } from "./rbac/bindings.ts";
import { ClusterRole, Role } from "./rbac/roles.ts";
import { PodScheduling } from "./resource/pod-scheduling.ts";
import { ResourceClaimTemplate } from "./resource/resource-claim-template.ts";
import { ResourceClaim } from "./resource/resource-claim.ts";
import { ResourceClass } from "./resource/resource-class.ts";
import { PriorityClass } from "./scheduling/priority-class.ts";
import { CSIDriver } from "./storage/csi-driver.ts";
import { CSINode } from "./storage/csi-node.ts";
import { CSIStorageCapacity, CSIStorageCapacityV1beta1 } from "./storage/csi-storage-capacity.ts";
import { StorageClass } from "./storage/storage-class.ts";
import { VolumeAttachment } from "./storage/volume-attachment.ts";

/** Every built-in kind, in the order in which groups and resources are listed to clients. */
export const builtInKinds: readonly Kind[] = [
  Binding,
  ComponentStatus,
  ConfigMap,
  Endpoints,
  Event,
  LimitRange,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  ServiceAccount,
  Service,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  CustomResourceDefinition,
  APIService,
  ControllerRevision,
  DaemonSet,
  Deployment,
  ReplicaSet,
  StatefulSet,
  TokenReview,
  SelfSubjectReview,
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerV1,
  CronJob,
  Job,
  CertificateSigningRequest,
  Lease,
  EndpointSlice,
  EventsEvent,
  FlowSchema,
  PriorityLevelConfiguration,
  FlowSchemaV1beta2,
  PriorityLevelConfigurationV1beta2,
  AccessExplanation,
  BulkAccessReview,
  SubjectAccessList,
  StorageVersion,
  ClusterCIDR,
  Ingress,
  IngressClass,
  NetworkPolicy,
  RuntimeClass,
  PodDisruptionBudget,
  ClusterRoleBinding,
  ClusterRole,
  RoleBinding,
  Role,
  PodScheduling,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceClass,
  PriorityClass,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  CSIStorageCapacityV1beta1,
  StorageClass,
  VolumeAttachment,
];

// The package's entry `plinth/kinds`: the declaration of each kind and, under the same name, the type of its objects.
export {
  Binding,
  ComponentStatus,
  ConfigMap,
  Endpoints,
  Event,
  LimitRange,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  ServiceAccount,
  Service,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  CustomResourceDefinition,
  APIService,
  ControllerRevision,
  DaemonSet,
  Deployment,
  ReplicaSet,
  StatefulSet,
  TokenReview,
  SelfSubjectReview,
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerV1,
  CronJob,
  Job,
  CertificateSigningRequest,
  Lease,
  EndpointSlice,
  EventsEvent,
  FlowSchema,
  PriorityLevelConfiguration,
  FlowSchemaV1beta2,
  PriorityLevelConfigurationV1beta2,
  AccessExplanation,
  BulkAccessReview,
  SubjectAccessList,
  StorageVersion,
  ClusterCIDR,
  Ingress,
  IngressClass,
  NetworkPolicy,
  RuntimeClass,
  PodDisruptionBudget,
  ClusterRoleBinding,
  ClusterRole,
  RoleBinding,
  Role,
  PodScheduling,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceClass,
  PriorityClass,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  CSIStorageCapacityV1beta1,
  StorageClass,
  VolumeAttachment,
};
