// Each built-in kind of the reference release, once: its declaration and, under the same name, the type of its objects.
export { MutatingWebhookConfiguration } from "./admissionregistration/mutating-webhook-configuration.ts";
export { ValidatingAdmissionPolicyBinding } from "./admissionregistration/validating-admission-policy-binding.ts";
export { ValidatingAdmissionPolicy } from "./admissionregistration/validating-admission-policy.ts";
export { ValidatingWebhookConfiguration } from "./admissionregistration/validating-webhook-configuration.ts";
export { CustomResourceDefinition } from "./apiextensions/custom-resource-definition.ts";
export { APIService } from "./apiregistration/api-service.ts";
export { ControllerRevision } from "./apps/controller-revision.ts";
export { DaemonSet } from "./apps/daemon-set.ts";
export { Deployment } from "./apps/deployment.ts";
export { ReplicaSet } from "./apps/replica-set.ts";
export { StatefulSet } from "./apps/stateful-set.ts";
export { SelfSubjectReview } from "./authentication/self-subject-review.ts";
export { TokenReview } from "./authentication/token-review.ts";
export {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from "./authorization/reviews.ts";
export { HorizontalPodAutoscaler as HorizontalPodAutoscalerV1 } from "./autoscaling/horizontal-pod-autoscaler-v1.ts";
export { HorizontalPodAutoscaler } from "./autoscaling/horizontal-pod-autoscaler.ts";
export { CronJob } from "./batch/cron-job.ts";
export { Job } from "./batch/job.ts";
export { CertificateSigningRequest } from "./certificates/certificate-signing-request.ts";
export { Lease } from "./coordination/lease.ts";
export { Binding } from "./core/binding.ts";
export { ComponentStatus } from "./core/component-status.ts";
export { ConfigMap } from "./core/config-map.ts";
export { Endpoints } from "./core/endpoints.ts";
export { Event } from "./core/event.ts";
export { LimitRange } from "./core/limit-range.ts";
export { Namespace } from "./core/namespace.ts";
export { Node } from "./core/node/node.ts";
export { PersistentVolumeClaim } from "./core/persistent-volume-claim.ts";
export { PersistentVolume } from "./core/persistent-volume.ts";
export { PodTemplate } from "./core/pod-template.ts";
export { Pod } from "./core/pod/pod.ts";
export { ReplicationController } from "./core/replication-controller.ts";
export { ResourceQuota } from "./core/resource-quota.ts";
export { Secret } from "./core/secret.ts";
export { ServiceAccount } from "./core/service-account.ts";
export { Service } from "./core/service/service.ts";
export { EndpointSlice } from "./discovery/endpoint-slice.ts";
export { Event as EventsEvent } from "./events/event.ts";
export { FlowSchema, FlowSchemaV1beta2 } from "./flowcontrol/flow-schema.ts";
export {
  PriorityLevelConfiguration,
  PriorityLevelConfigurationV1beta2,
} from "./flowcontrol/priority-level-configuration.ts";
export { AccessExplanation } from "./insight/access-explanation.ts";
export { BulkAccessReview } from "./insight/bulk-access-review.ts";
export { ObjectVersion } from "./history/object-version.ts";
export { Undo } from "./history/undo.ts";
export { Workspace } from "./tenancy/workspace.ts";
export { WorkspaceDiff } from "./tenancy/workspace-diff.ts";
export { WorkspaceMerge } from "./tenancy/workspace-merge.ts";
export { WorkspacePreview } from "./tenancy/workspace-preview.ts";
export { WorkspaceRebase } from "./tenancy/workspace-rebase.ts";
export { Transaction } from "./transactions/transaction.ts";
export { SubjectAccessList } from "./insight/subject-access-list.ts";
export { StorageVersion } from "./internal-apiserver/storage-version.ts";
export { ClusterCIDR } from "./networking/cluster-cidr.ts";
export { IngressClass } from "./networking/ingress-class.ts";
export { Ingress } from "./networking/ingress.ts";
export { NetworkPolicy } from "./networking/network-policy.ts";
export { RuntimeClass } from "./node/runtime-class.ts";
export { PodDisruptionBudget } from "./policy/pod-disruption-budget.ts";
export { ClusterRoleBinding, RoleBinding } from "./rbac/bindings.ts";
export { ClusterRole, Role } from "./rbac/roles.ts";
export { PodScheduling } from "./resource/pod-scheduling.ts";
export { ResourceClaimTemplate } from "./resource/resource-claim-template.ts";
export { ResourceClaim } from "./resource/resource-claim.ts";
export { ResourceClass } from "./resource/resource-class.ts";
export { PriorityClass } from "./scheduling/priority-class.ts";
export { CSIDriver } from "./storage/csi-driver.ts";
export { CSINode } from "./storage/csi-node.ts";
export { CSIStorageCapacity, CSIStorageCapacityV1beta1 } from "./storage/csi-storage-capacity.ts";
export { StorageClass } from "./storage/storage-class.ts";
export { VolumeAttachment } from "./storage/volume-attachment.ts";
