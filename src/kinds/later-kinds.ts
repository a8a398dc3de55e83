// Each kind and version that later releases have and the reference release hasn't.
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
export { FlowSchemaV1 } from "./flowcontrol/flow-schema.ts";
export { PriorityLevelConfigurationV1 } from "./flowcontrol/priority-level-configuration.ts";
