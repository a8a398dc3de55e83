import type { ObjectFor } from "../../schema/kind.ts";
import { bindingConversion } from "./binding-conversion.ts";
import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import { since } from "../../base/release-rows.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, string } from "../../schema/types.ts";
import { dnsSubdomain, pathSegment } from "../checks/names.ts";
import { labelSelector } from "../checks/selectors.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { declareMatchResources, type AdmissionDeclarations } from "./match-resources.ts";
import {
  bindingColumns,
  policyKindMembers,
  type ParamRef,
  type BindingVersion,
  type Structs,
} from "./policy-kinds.ts";
import { checkParamRef, validationActions } from "./policy-rules.ts";

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

function paramText(paramRef: ParamRef | undefined): string {
  if (paramRef === undefined) return "<unset>";
  const { name = "", namespace = "" } = paramRef;
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** Declares ValidatingAdmissionPolicyBinding in one version of the group. */
function declareValidatingAdmissionPolicyBinding<const V extends string>(
  declarations: AdmissionDeclarations<V>,
  version: BindingVersion,
) {
  return declarations.kind({
    name: "ValidatingAdmissionPolicyBinding",
    resource: "validatingadmissionpolicybindings",
    singular: "validatingadmissionpolicybinding",
    ...policyKindMembers(version),
    doc: "Enforces a ValidatingAdmissionPolicy, optionally with parameters and only for selected requests.",
    effect: {
      enforced: "writes that the bound policy matches are rejected where its expressions do not hold",
    },
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

/** Declares how a binding finds the parameters. */
export function declareParamRef(
  { atomicStruct }: Pick<Structs, "atomicStruct">,
  { hasDefaultAction = false }: BindingVersion,
) {
  const action = field(4, string, "Decision when no parameter object is found: Allow or Deny.")
    .nullable()
    .mustBeGiven()
    .oneOf("Allow", "Deny")
    .checkedWhenEmpty(false);
  return atomicStruct(
    "ParamRef",
    "Reference to the objects with a policy's parameters, by name or label selector.",
    {
      name: field(1, string, "Name of the object.").check(pathSegment),
      namespace: field(2, string, "Namespace of the object; empty if its kind is cluster-scoped."),
    },
    {
      check: checkParamRef,
      later: () => ({
        selector: since(
          "1.28",
          field(3, LabelSelector, "Label selector of the objects; not together with `name`.")
            .nullable()
            .check(labelSelector),
        ),
        parameterNotFoundAction: since("1.28", hasDefaultAction ? action.unpublishedDefault("Deny") : action),
      }),
    },
  );
}

function declareSpec(declarations: Structs, version: BindingVersion) {
  const { struct } = declarations;
  const ParamRef = declareParamRef(declarations, version);
  return struct(
    "ValidatingAdmissionPolicyBindingSpec",
    "The bound policy, its parameters and the requests to which it applies.",
    {
      policyName: field(1, string, "Name of the ValidatingAdmissionPolicy.")
        .mustBeGiven()
        .check(dnsSubdomain),
      paramRef: field(2, ParamRef, "The object with the policy's parameters.").nullable(),
      matchResources: field(
        3,
        declareMatchResources(declarations),
        "Further limits on the requests to which the policy applies.",
      ).nullable(),
    },
    {
      later: () => ({
        validationActions: since(
          "1.27",
          field(4, list(string), "Actions for failed validations: Deny, Warn or Audit.")
            .set()
            .mustBeGiven()
            .check(validationActions),
        ),
      }),
    },
  );
}
