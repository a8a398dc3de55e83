import { replacedIn, since } from "../../schema/later-fields.ts";
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
export function declareValidatingAdmissionPolicy<const V extends string>(
  declarations: AdmissionDeclarations<V>,
  version: PolicyVersion,
) {
  const status = () => field(3, declareStatus(declarations), "What the server found out about it.");
  return declarations.kind({
    name: "ValidatingAdmissionPolicy",
    resource: "validatingadmissionpolicies",
    singular: "validatingadmissionpolicy",
    ...policyKindMembers(version),
    doc: "Refuses writes for which its expressions don't hold.",
    effect: {
      enforced:
        "writes that match a policy and one of its bindings are rejected where its expressions do not hold, if the feature gate ValidatingAdmissionPolicy is on",
    },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the policy.").emitEmpty(),
      spec: field(2, declareSpec(declarations), "What the policy demands.").emitEmpty(),
    },
    later: () => ({ status: since("1.27", status().emitEmpty()) }),
    laterStatus: { since: "1.27", status: { initial: () => ({}), keepsMetadata: "all" } },
    validate({ metadata, spec }, report) {
      checkAuditKeys(
        metadata.name ?? "",
        spec?.auditAnnotations ?? [],
        report.at("spec", "auditAnnotations"),
      );
    },
    columns: policyColumns("validations", { name: "Validations", doc: "How many expressions must hold." }),
  });
}

function declareSpec(declarations: Structs) {
  const { struct } = declarations;
  const ParamKind = declareParamKind(declarations);
  const Validation = declareValidation(declarations);
  return struct(
    "ValidatingAdmissionPolicySpec",
    "What a policy demands of which requests.",
    {
      paramKind: field(
        1,
        ParamKind,
        "Kind of the policy's parameters; absent where it takes none.",
      ).nullable(),
      matchConstraints: field(
        2,
        declareMatchResources(declarations),
        "Which requests the policy is for.",
      ).nullable(),
      validations: field(3, list(Validation), "The expressions that must hold.").declaredRequired().atomic(),
      failurePolicy: field(4, string, "What follows when the policy can't be evaluated.")
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
    "A kind of objects that hold parameters.",
    {
      apiVersion: field(1, string, "Group and version of the kind."),
      kind: field(2, string, "Name of the kind."),
    },
    { check: checkParamKind },
  );
}

/** Declares a variable of a policy. */
export function declareVariable({ struct }: Structs) {
  return struct("Variable", "A named expression.", {
    name: field(1, string, "Name of the variable; other expressions use `variables.<name>`.")
      .required()
      .check(variableName),
    expression: field(2, string, "CEL expression of the value; evaluated at the first use.")
      .required()
      .check(notBlank),
  });
}

function declareValidation({ struct }: Structs) {
  return struct(
    "Validation",
    "An expression that must hold.",
    {
      expression: field(1, string, "The expression; it must yield true.").declaredRequired(),
      message: field(2, string, "What is told when the expression doesn't hold."),
      reason: field(3, string, "Reason of the refusal, for programs.")
        .nullable()
        .knownValues(...statusReasons),
    },
    {
      check: checkValidation,
      later: () => ({
        messageExpression: since(
          "1.27",
          field(4, string, "CEL expression of the message; the other message is for its failure."),
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
  const AuditAnnotation = struct("AuditAnnotation", "An audit annotation of a request.", {
    key: field(1, string, "Second part of the annotation's key, after the name of the policy.").required(),
    valueExpression: field(2, string, "CEL expression of the value; null adds no annotation.")
      .required()
      .check(notBlank),
  });
  const Variable = declareVariable(declarations);
  return {
    // From this release on, audit annotations are enough.
    validations: replacedIn("1.27", field(3, list(Validation), "The expressions that must hold.").atomic()),
    auditAnnotations: since(
      "1.27",
      field(5, list(AuditAnnotation), "Audit annotations of the requests.").atomic().check(auditAnnotations),
    ),
    matchConditions: since("1.27", matchConditionsField(6, declareMatchCondition(struct))),
    variables: since(
      "1.28",
      field(7, list(Variable), "Variables of the expressions; a variable can use the ones before it.")
        .mapBy("name")
        .patchMerge("name")
        .check(variables),
    ),
  };
}

function declareStatus({ struct }: Structs) {
  const ExpressionWarning = struct("ExpressionWarning", "A warning about an expression.", {
    fieldRef: field(2, string, "Path of the expression.").declaredRequired(),
    warning: field(3, string, "The warning.").declaredRequired(),
  });
  const TypeChecking = struct("TypeChecking", "Results of type checking.", {
    expressionWarnings: field(1, list(ExpressionWarning), "Warnings by expression.").atomic(),
  });
  return struct("ValidatingAdmissionPolicyStatus", "What the server found out about a policy.", {
    observedGeneration: field(1, int64, "Generation that was checked last."),
    typeChecking: field(2, TypeChecking, "Results of type checking.").nullable(),
    conditions: field(3, list(Condition), "What is known about its state.")
      .mapBy("type")
      .check(conditionList),
  });
}
