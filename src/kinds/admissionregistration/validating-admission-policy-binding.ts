import type { ObjectFor } from "../../schema/kind.ts";
import { bindingConversion } from "./binding-conversion.ts";
import { declareValidatingAdmissionPolicyBinding } from "./declare-policy-binding.ts";
import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";

/** The stored version in every release. */
export const ValidatingAdmissionPolicyBinding = declareValidatingAdmissionPolicyBinding(v1alpha1, {
  servedByDefault: false,
  hasDefaultAction: true,
});
export type ValidatingAdmissionPolicyBinding = ObjectFor<typeof ValidatingAdmissionPolicyBinding>;

const conversion = bindingConversion(() => ValidatingAdmissionPolicyBinding);

/** Release 1.28 and later. */
export const ValidatingAdmissionPolicyBindingV1beta1 = declareValidatingAdmissionPolicyBinding(v1beta1, {
  servedByDefault: false,
  conversion,
});
export type ValidatingAdmissionPolicyBindingV1beta1 = ObjectFor<
  typeof ValidatingAdmissionPolicyBindingV1beta1
>;

/** Release 1.30 and later. */
export const ValidatingAdmissionPolicyBindingV1 = declareValidatingAdmissionPolicyBinding(v1, {
  servedByDefault: true,
  conversion,
});
export type ValidatingAdmissionPolicyBindingV1 = ObjectFor<typeof ValidatingAdmissionPolicyBindingV1>;
