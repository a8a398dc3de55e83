import { since } from "../../schema/later-fields.ts";
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

function paramText(paramRef: ParamRef | undefined): string {
  if (paramRef === undefined) return "<unset>";
  const { name = "", namespace = "" } = paramRef;
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** Declares ValidatingAdmissionPolicyBinding in one version of the group. */
export function declareValidatingAdmissionPolicyBinding<const V extends string>(
  declarations: AdmissionDeclarations<V>,
  version: BindingVersion,
) {
  return declarations.kind({
    name: "ValidatingAdmissionPolicyBinding",
    resource: "validatingadmissionpolicybindings",
    singular: "validatingadmissionpolicybinding",
    ...policyKindMembers(version),
    doc: "Puts a policy into force.",
    effect: {
      enforced: "writes that the bound policy matches are rejected where its expressions do not hold",
    },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the binding.").emitEmpty(),
      spec: field(2, declareSpec(declarations, version), "Where the policy holds.").emitEmpty(),
    },
    columns: bindingColumns(paramText),
  });
}

/** Declares how a binding finds the parameters. */
export function declareParamRef(
  { atomicStruct }: Pick<Structs, "atomicStruct">,
  { hasDefaultAction = false }: BindingVersion,
) {
  const action = field(4, string, "Whether a request is allowed when no object is found.")
    .nullable()
    .mustBeGiven()
    .oneOf("Allow", "Deny")
    .checkedWhenEmpty(false);
  return atomicStruct(
    "ParamRef",
    "Names or selects the objects that hold a policy's parameters.",
    {
      name: field(1, string, "Name of the object.").check(pathSegment),
      namespace: field(2, string, "Namespace of the object; absent for cluster-wide ones."),
    },
    {
      check: checkParamRef,
      later: () => ({
        selector: since(
          "1.28",
          field(3, LabelSelector, "Selects the objects by their labels, instead of the name.")
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
    "Where a policy holds, with which parameters.",
    {
      policyName: field(1, string, "Name of the policy.").mustBeGiven().check(dnsSubdomain),
      paramRef: field(2, ParamRef, "The object with the parameters.").nullable(),
      matchResources: field(
        3,
        declareMatchResources(declarations),
        "Narrows the requests for which the policy holds.",
      ).nullable(),
    },
    {
      later: () => ({
        validationActions: since(
          "1.27",
          field(4, list(string), "What follows when an expression doesn't hold.")
            .set()
            .mustBeGiven()
            .check(validationActions),
        ),
      }),
    },
  );
}
