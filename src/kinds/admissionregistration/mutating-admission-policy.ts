import type { ObjectFor } from "../../schema/kind.ts";
import { declareMutatingAdmissionPolicy } from "./declare-mutating-policy.ts";
import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import { sameFields } from "../same-fields.ts";

/** The stored version in every release. */
export const MutatingAdmissionPolicy = declareMutatingAdmissionPolicy(v1alpha1, { servedByDefault: false });
export type MutatingAdmissionPolicy = ObjectFor<typeof MutatingAdmissionPolicy>;

/** The versions have the same fields. */
const conversion = sameFields(() => MutatingAdmissionPolicy);

/** Release 1.34 and later. */
export const MutatingAdmissionPolicyV1beta1 = declareMutatingAdmissionPolicy(v1beta1, {
  servedByDefault: false,
  conversion,
});
export type MutatingAdmissionPolicyV1beta1 = ObjectFor<typeof MutatingAdmissionPolicyV1beta1>;

/** Release 1.36 and later. */
export const MutatingAdmissionPolicyV1 = declareMutatingAdmissionPolicy(v1, {
  servedByDefault: true,
  conversion,
});
export type MutatingAdmissionPolicyV1 = ObjectFor<typeof MutatingAdmissionPolicyV1>;
