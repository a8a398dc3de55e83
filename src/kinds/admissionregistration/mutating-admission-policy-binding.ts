import type { ObjectFor } from "../../schema/kind.ts";
import { bindingConversion } from "./binding-conversion.ts";
import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string } from "../../schema/types.ts";
import { dnsSubdomain } from "../checks/names.ts";
import { declareParamRef } from "./validating-admission-policy-binding.ts";
import { declareMatchResources, type AdmissionDeclarations } from "./match-resources.ts";
import {
  bindingColumns,
  policyKindMembers,
  type ParamRef,
  type BindingVersion,
  type Structs,
} from "./policy-kinds.ts";
import { checkMutatedOperations } from "./mutating-policy-rules.ts";

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

/** Formats the parameters of a binding for a column: any namespace is `*`. */
function paramText(paramRef: ParamRef | undefined): string {
  const { name = "", namespace = "" } = paramRef ?? {};
  return name === "" ? "<unset>" : `${namespace === "" ? "*" : namespace}/${name}`;
}

/** Declares MutatingAdmissionPolicyBinding in one version of the group. */
function declareMutatingAdmissionPolicyBinding<const V extends string>(
  declarations: AdmissionDeclarations<V>,
  version: BindingVersion,
) {
  return declarations.kind({
    name: "MutatingAdmissionPolicyBinding",
    resource: "mutatingadmissionpolicybindings",
    singular: "mutatingadmissionpolicybinding",
    ...policyKindMembers(version),
    doc: "Enforces a MutatingAdmissionPolicy, optionally with parameters and only for selected requests.",
    effect: { enforced: "objects that the bound policy matches are changed by its mutations" },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the binding.").emitEmpty(),
      spec: field(
        2,
        declareSpec(declarations, version),
        "The bound policy, its parameters and the requests to which it applies.",
      ).emitEmpty(),
    },
    columns: bindingColumns(paramText),
  });
}

function declareSpec(declarations: Structs, version: BindingVersion) {
  return declarations.struct(
    "MutatingAdmissionPolicyBindingSpec",
    "The bound policy, its parameters and the requests to which it applies.",
    {
      policyName: field(1, string, "Name of the MutatingAdmissionPolicy.").mustBeGiven().check(dnsSubdomain),
      paramRef: field(
        2,
        declareParamRef(declarations, version),
        "The object with the policy's parameters.",
      ).nullable(),
      matchResources: field(
        3,
        declareMatchResources(declarations),
        "Further limits on the requests to which the policy applies.",
      ).nullable(),
    },
    {
      check: ({ matchResources }, report) =>
        checkMutatedOperations(matchResources, report.at("matchResources")),
    },
  );
}
