// Each kind and version that later releases have and the reference release hasn't.
export { SelfSubjectReviewV1, SelfSubjectReviewV1beta1 } from "./authentication/self-subject-review.ts";
export { FlowSchemaV1 } from "./flowcontrol/flow-schema.ts";
export { PriorityLevelConfigurationV1 } from "./flowcontrol/priority-level-configuration.ts";
