// Each kind and version that later releases have and the reference release hasn't.
export {
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicyBindingV1,
  MutatingAdmissionPolicyBindingV1beta1,
} from "./admissionregistration/mutating-admission-policy-binding.ts";
export {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyV1,
  MutatingAdmissionPolicyV1beta1,
} from "./admissionregistration/mutating-admission-policy.ts";
export {
  ValidatingAdmissionPolicyBindingV1,
  ValidatingAdmissionPolicyBindingV1beta1,
} from "./admissionregistration/validating-admission-policy-binding.ts";
export {
  ValidatingAdmissionPolicyV1,
  ValidatingAdmissionPolicyV1beta1,
} from "./admissionregistration/validating-admission-policy.ts";
export { SelfSubjectReviewV1, SelfSubjectReviewV1beta1 } from "./authentication/self-subject-review.ts";
export {
  VolumeAttributesClassV1,
  VolumeAttributesClassV1alpha1,
  VolumeAttributesClassV1beta1,
} from "./storage/volume-attributes-class.ts";
export { IPAddressV1, IPAddressV1alpha1, IPAddressV1beta1 } from "./networking/ip-address.ts";
export { ServiceCIDRV1, ServiceCIDRV1alpha1, ServiceCIDRV1beta1 } from "./networking/service-cidr.ts";
export { FlowSchemaV1 } from "./flowcontrol/flow-schema.ts";
export { PriorityLevelConfigurationV1 } from "./flowcontrol/priority-level-configuration.ts";
export {
  DeviceClassV1,
  DeviceClassV1beta1,
  DeviceClassV1beta2,
  DeviceTaintRuleV1,
  DeviceTaintRuleV1alpha3,
  DeviceTaintRuleV1beta2,
  ResourceClaimTemplateV1,
  ResourceClaimTemplateV1beta1,
  ResourceClaimTemplateV1beta2,
  ResourceClaimV1,
  ResourceClaimV1beta1,
  ResourceClaimV1beta2,
  ResourcePoolStatusRequestV1alpha3,
  ResourceSliceV1,
  ResourceSliceV1beta1,
  ResourceSliceV1beta2,
} from "./resource/devices/kinds.ts";
export {
  ClusterTrustBundleV1,
  ClusterTrustBundleV1alpha1,
  ClusterTrustBundleV1beta1,
} from "./certificates/cluster-trust-bundle.ts";
export {
  PodCertificateRequestV1,
  PodCertificateRequestV1alpha1,
  PodCertificateRequestV1beta1,
} from "./certificates/pod-certificate-request.ts";
export { LeaseCandidateV1alpha2, LeaseCandidateV1beta1 } from "./coordination/lease-candidate.ts";
export {
  StorageVersionMigrationV1,
  StorageVersionMigrationV1alpha1,
  StorageVersionMigrationV1beta1,
} from "./storagemigration/storage-version-migration.ts";
