import type { ObjectFor } from "../../schema/kind.ts";
import { bindingConversion } from "./binding-conversion.ts";
import { declareMutatingAdmissionPolicyBinding } from "./declare-mutating-policy-binding.ts";
import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";

/** The stored version in every release. */
export const MutatingAdmissionPolicyBinding = declareMutatingAdmissionPolicyBinding(v1alpha1, {
  servedByDefault: false,
  hasDefaultAction: true,
});
export type MutatingAdmissionPolicyBinding = ObjectFor<typeof MutatingAdmissionPolicyBinding>;

const conversion = bindingConversion(() => MutatingAdmissionPolicyBinding);

/** Release 1.34 and later. */
export const MutatingAdmissionPolicyBindingV1beta1 = declareMutatingAdmissionPolicyBinding(v1beta1, {
  servedByDefault: false,
  conversion,
});
export type MutatingAdmissionPolicyBindingV1beta1 = ObjectFor<typeof MutatingAdmissionPolicyBindingV1beta1>;

/** Release 1.36 and later. */
export const MutatingAdmissionPolicyBindingV1 = declareMutatingAdmissionPolicyBinding(v1, {
  servedByDefault: true,
  conversion,
});
export type MutatingAdmissionPolicyBindingV1 = ObjectFor<typeof MutatingAdmissionPolicyBindingV1>;
