import type { ObjectFor } from "../../schema/kind.ts";
import { declareValidatingAdmissionPolicy } from "./declare-policy.ts";
import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import { sameFields } from "../same-fields.ts";

/** The stored version in every release. */
export const ValidatingAdmissionPolicy = declareValidatingAdmissionPolicy(v1alpha1, {
  servedByDefault: false,
});
export type ValidatingAdmissionPolicy = ObjectFor<typeof ValidatingAdmissionPolicy>;

/** The versions have the same fields. */
const conversion = sameFields(() => ValidatingAdmissionPolicy);

/** Release 1.28 and later. */
export const ValidatingAdmissionPolicyV1beta1 = declareValidatingAdmissionPolicy(v1beta1, {
  servedByDefault: false,
  conversion,
});
export type ValidatingAdmissionPolicyV1beta1 = ObjectFor<typeof ValidatingAdmissionPolicyV1beta1>;

/** Release 1.30 and later. */
export const ValidatingAdmissionPolicyV1 = declareValidatingAdmissionPolicy(v1, {
  servedByDefault: true,
  conversion,
});
export type ValidatingAdmissionPolicyV1 = ObjectFor<typeof ValidatingAdmissionPolicyV1>;
