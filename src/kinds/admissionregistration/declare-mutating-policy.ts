import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, string } from "../../schema/types.ts";
import { declareParamKind, declareVariable } from "./declare-policy.ts";
import { declareMatchCondition, matchConditionsField, notBlank } from "./match-condition.ts";
import { declareMatchResources, type AdmissionDeclarations } from "./match-resources.ts";
import { policyColumns, policyKindMembers, type PolicyVersion, type Structs } from "./policy-kinds.ts";
import { checkMutatingPolicy, checkMutation } from "./mutating-policy-rules.ts";
import { variables } from "./policy-rules.ts";

/** Declares MutatingAdmissionPolicy in one version of the group. */
export function declareMutatingAdmissionPolicy<const V extends string>(
  declarations: AdmissionDeclarations<V>,
  version: PolicyVersion,
) {
  return declarations.kind({
    name: "MutatingAdmissionPolicy",
    resource: "mutatingadmissionpolicies",
    singular: "mutatingadmissionpolicy",
    ...policyKindMembers(version),
    doc: "Changes objects that are written, by expressions.",
    effect: {
      enforced:
        "objects that match a policy and one of its bindings are changed by its mutations, if the feature gate MutatingAdmissionPolicy is on",
    },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the policy.").emitEmpty(),
      spec: field(2, declareSpec(declarations), "What the policy changes.").emitEmpty(),
    },
    columns: policyColumns("mutations", { name: "Mutations", doc: "Number of mutations." }),
  });
}

function declareSpec(declarations: Structs) {
  const { struct } = declarations;
  return struct(
    "MutatingAdmissionPolicySpec",
    "What a policy changes in which requests.",
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
        "Variables of the expressions; a variable can use the ones before it.",
      )
        .atomic()
        .check(variables),
      mutations: field(4, list(declareMutation(declarations)), "The mutations, in order.").atomic(),
      failurePolicy: field(5, string, "What follows when the policy can't be evaluated.")
        .nullable()
        .oneOf("Fail", "Ignore")
        .unpublishedDefault("Fail"),
      matchConditions: matchConditionsField(6, declareMatchCondition(struct)),
      reinvocationPolicy: field(7, string, "Whether the policy is evaluated again after later changes.")
        .mustBeGiven()
        .oneOf("IfNeeded", "Never"),
    },
    { check: checkMutatingPolicy },
  );
}

function declareMutation({ struct }: Structs) {
  const ApplyConfiguration = struct("ApplyConfiguration", "Fields that are applied to the object.", {
    expression: field(1, string, "CEL expression that yields an `Object`.").check(notBlank),
  });
  const JSONPatch = struct("JSONPatch", "A JSON patch of the object.", {
    expression: field(1, string, "CEL expression that yields a list of `JSONPatch`.").check(notBlank),
  });
  return struct(
    "Mutation",
    "A change of the object.",
    {
      patchType: field(2, string, "Form of the change.").required().oneOf("ApplyConfiguration", "JSONPatch"),
      applyConfiguration: field(3, ApplyConfiguration, "Fields that are applied to the object.").nullable(),
      jsonPatch: field(4, JSONPatch, "A JSON patch of the object.").nullable(),
    },
    { check: checkMutation },
  );
}
