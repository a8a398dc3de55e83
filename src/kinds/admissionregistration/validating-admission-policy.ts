import type { ObjectFor } from "../../schema/kind.ts";
import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import { sameFields } from "../same-fields.ts";
import { since } from "../../base/release-rows.ts";
import { replacedIn } from "../../schema/added-fields.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int64, list, string } from "../../schema/types.ts";
import { conditionList } from "../checks/conditions.ts";
import { Condition } from "../meta/condition.ts";
import { declareMatchCondition, matchConditionsField, notBlank } from "./match-condition.ts";
import { declareMatchResources, type AdmissionDeclarations } from "./match-resources.ts";
import { policyColumns, policyKindMembers, type PolicyVersion, type Structs } from "./policy-kinds.ts";
import {
  auditAnnotations,
  checkAuditKeys,
  checkParamKind,
  checkPolicy,
  checkValidation,
  variableName,
  variables,
} from "./policy-rules.ts";

const statusReasons = [
  "",
  "AlreadyExists",
  "BadRequest",
  "Conflict",
  "Expired",
  "Forbidden",
  "Gone",
  "InternalError",
  "Invalid",
  "MethodNotAllowed",
  "NotAcceptable",
  "NotFound",
  "RequestEntityTooLarge",
  "ServerTimeout",
  "ServiceUnavailable",
  "Timeout",
  "TooManyRequests",
  "Unauthorized",
  "UnsupportedMediaType",
];

/** Declares ValidatingAdmissionPolicy in one version of the group. */
function declareValidatingAdmissionPolicy<const V extends string>(
  declarations: AdmissionDeclarations<V>,
  version: PolicyVersion,
) {
  const status = () => field(3, declareStatus(declarations), "Results of the server's checks of the policy.");
  return declarations.kind({
    name: "ValidatingAdmissionPolicy",
    resource: "validatingadmissionpolicies",
    singular: "validatingadmissionpolicy",
    ...policyKindMembers(version),
    doc: "Validates objects on admission with CEL expressions.",
    effect: {
      enforced:
        "writes that match a policy and one of its bindings are rejected where its expressions do not hold, if the feature gate ValidatingAdmissionPolicy is on",
    },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the policy.").emitEmpty(),
      spec: field(
        2,
        declareSpec(declarations),
        "The validations and the requests to which they apply.",
      ).emitEmpty(),
    },
    later: () => ({ status: since("1.27", status().emitEmpty()) }),
    status: since("1.27", serverStatus),
    validate({ metadata, spec }, report) {
      checkAuditKeys(
        metadata.name ?? "",
        spec?.auditAnnotations ?? [],
        report.at("spec", "auditAnnotations"),
      );
    },
    columns: policyColumns("validations", { name: "Validations", doc: "Number of validations." }),
  });
}

const serverStatus = { initial: () => ({}), keepsMetadata: "all" } as const;

function declareSpec(declarations: Structs) {
  const { struct } = declarations;
  const ParamKind = declareParamKind(declarations);
  const Validation = declareValidation(declarations);
  return struct(
    "ValidatingAdmissionPolicySpec",
    "The validations and the requests to which they apply.",
    {
      paramKind: field(1, ParamKind, "Kind of the policy's parameters; absent if it has none.").nullable(),
      matchConstraints: field(
        2,
        declareMatchResources(declarations),
        "Requests to which the policy applies.",
      ).nullable(),
      validations: field(3, list(Validation), "Expressions that must be true for the request to be admitted.")
        .declaredRequired()
        .atomic(),
      failurePolicy: field(
        4,
        string,
        "Handling of requests for which the policy cannot be evaluated: Fail or Ignore. Default: Fail.",
      )
        .nullable()
        .oneOf("Fail", "Ignore")
        .unpublishedDefault("Fail"),
    },
    { check: checkPolicy, later: () => laterSpecFields(declarations, Validation) },
  );
}

/** Declares the kind of the parameters of a policy. */
export function declareParamKind({ atomicStruct }: Structs) {
  return atomicStruct(
    "ParamKind",
    "The kind of a policy's parameters.",
    {
      apiVersion: field(1, string, "API group and version of the parameter objects."),
      kind: field(2, string, "Kind of the parameter objects."),
    },
    { check: checkParamKind },
  );
}

/** Declares a variable of a policy. */
export function declareVariable({ struct }: Structs) {
  return struct("Variable", "A named expression that other expressions can use.", {
    name: field(1, string, "Name of the variable; other expressions use `variables.<name>`.")
      .required()
      .check(variableName),
    expression: field(2, string, "CEL expression of the value, evaluated at its first use.")
      .required()
      .check(notBlank),
  });
}

function declareValidation({ struct }: Structs) {
  return struct(
    "Validation",
    "An expression that must be true for the request to be admitted.",
    {
      expression: field(1, string, "CEL expression that must return true.").declaredRequired(),
      message: field(2, string, "Message for the client if the expression is false."),
      reason: field(3, string, "Status reason of the rejection.")
        .nullable()
        .knownValues(...statusReasons),
    },
    {
      check: checkValidation,
      later: () => ({
        messageExpression: since(
          "1.27",
          field(4, string, "CEL expression that returns the message; `message` is used if it fails."),
        ),
      }),
    },
  );
}

function laterSpecFields<T extends ReturnType<typeof declareValidation>>(
  declarations: Structs,
  Validation: T,
) {
  const { struct } = declarations;
  const AuditAnnotation = struct(
    "AuditAnnotation",
    "An annotation to add to the audit event of the request.",
    {
      key: field(
        1,
        string,
        "Second part of the annotation's key; the first is the name of the policy.",
      ).required(),
      valueExpression: field(2, string, "CEL expression that returns the value; null adds no annotation.")
        .required()
        .check(notBlank),
    },
  );
  const Variable = declareVariable(declarations);
  return {
    // From this release on, audit annotations are enough.
    validations: replacedIn(
      "1.27",
      field(3, list(Validation), "Expressions that must be true for the request to be admitted.").atomic(),
    ),
    auditAnnotations: since(
      "1.27",
      field(5, list(AuditAnnotation), "Annotations to add to the audit events of the requests.")
        .atomic()
        .check(auditAnnotations),
    ),
    matchConditions: since("1.27", matchConditionsField(6, declareMatchCondition(struct))),
    variables: since(
      "1.28",
      field(7, list(Variable), "Variables for the expressions; a variable can refer to earlier ones.")
        .mapBy("name")
        .patchMerge("name")
        .check(variables),
    ),
  };
}

function declareStatus({ struct }: Structs) {
  const ExpressionWarning = struct("ExpressionWarning", "A warning about an expression.", {
    fieldRef: field(2, string, "Field path of the expression.").declaredRequired(),
    warning: field(3, string, "Text of the warning.").declaredRequired(),
  });
  const TypeChecking = struct("TypeChecking", "Results of type checking the expressions.", {
    expressionWarnings: field(1, list(ExpressionWarning), "Warnings, one per expression.").atomic(),
  });
  return struct("ValidatingAdmissionPolicyStatus", "Results of the server's checks of a policy.", {
    observedGeneration: field(1, int64, "Latest generation that was checked."),
    typeChecking: field(2, TypeChecking, "Results of type checking the expressions.").nullable(),
    conditions: field(3, list(Condition), "Conditions of the object, at most one per type.")
      .mapBy("type")
      .check(conditionList),
  });
}

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
