import type { ObjectFor } from "../../schema/kind.ts";
import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import { sameFields } from "../same-fields.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, string } from "../../schema/types.ts";
import { declareParamKind, declareVariable } from "./validating-admission-policy.ts";
import { declareMatchCondition, matchConditionsField, notBlank } from "./match-condition.ts";
import { declareMatchResources, type AdmissionDeclarations } from "./match-resources.ts";
import { policyColumns, policyKindMembers, type PolicyVersion, type Structs } from "./policy-kinds.ts";
import { checkMutatingPolicy, checkMutation } from "./mutating-policy-rules.ts";
import { variables } from "./policy-rules.ts";

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

/** Declares MutatingAdmissionPolicy in one version of the group. */
function declareMutatingAdmissionPolicy<const V extends string>(
  declarations: AdmissionDeclarations<V>,
  version: PolicyVersion,
) {
  return declarations.kind({
    name: "MutatingAdmissionPolicy",
    resource: "mutatingadmissionpolicies",
    singular: "mutatingadmissionpolicy",
    ...policyKindMembers(version),
    doc: "Changes objects on admission with CEL expressions.",
    effect: {
      enforced:
        "objects that match a policy and one of its bindings are changed by its mutations, if the feature gate MutatingAdmissionPolicy is on",
    },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the policy.").emitEmpty(),
      spec: field(
        2,
        declareSpec(declarations),
        "The mutations and the requests to which they apply.",
      ).emitEmpty(),
    },
    columns: policyColumns("mutations", { name: "Mutations", doc: "Number of mutations." }),
  });
}

function declareSpec(declarations: Structs) {
  const { struct } = declarations;
  return struct(
    "MutatingAdmissionPolicySpec",
    "The mutations and the requests to which they apply.",
    {
      paramKind: field(
        1,
        declareParamKind(declarations),
        "Kind of the policy's parameters; absent without parameters.",
      ).nullable(),
      matchConstraints: field(
        2,
        declareMatchResources(declarations),
        "The requests to which the policy applies.",
      ).nullable(),
      variables: field(
        3,
        list(declareVariable(declarations)),
        "Variables for the expressions; a variable can refer to earlier ones.",
      )
        .atomic()
        .check(variables),
      mutations: field(4, list(declareMutation(declarations)), "Mutations of the object, in order.").atomic(),
      failurePolicy: field(
        5,
        string,
        "Handling of requests for which the policy cannot be evaluated: Fail or Ignore. Default: Fail.",
      )
        .nullable()
        .oneOf("Fail", "Ignore")
        .unpublishedDefault("Fail"),
      matchConditions: matchConditionsField(6, declareMatchCondition(struct)),
      reinvocationPolicy: field(
        7,
        string,
        "Whether the policy runs again after later mutations: IfNeeded or Never.",
      )
        .mustBeGiven()
        .oneOf("IfNeeded", "Never"),
    },
    { check: checkMutatingPolicy },
  );
}

function declareMutation({ struct }: Structs) {
  const ApplyConfiguration = struct(
    "ApplyConfiguration",
    "A server-side apply configuration to merge into the object.",
    {
      expression: field(1, string, "CEL expression that returns the apply configuration, an `Object`.").check(
        notBlank,
      ),
    },
  );
  const JSONPatch = struct("JSONPatch", "A JSON patch for the object.", {
    expression: field(1, string, "CEL expression that returns a list of `JSONPatch` operations.").check(
      notBlank,
    ),
  });
  return struct(
    "Mutation",
    "One mutation of the object.",
    {
      patchType: field(2, string, "Form of the mutation: ApplyConfiguration or JSONPatch.")
        .required()
        .oneOf("ApplyConfiguration", "JSONPatch"),
      applyConfiguration: field(
        3,
        ApplyConfiguration,
        "Fields to merge into the object; only for the type ApplyConfiguration.",
      ).nullable(),
      jsonPatch: field(4, JSONPatch, "Patch of the object; only for the type JSONPatch.").nullable(),
    },
    { check: checkMutation },
  );
}
