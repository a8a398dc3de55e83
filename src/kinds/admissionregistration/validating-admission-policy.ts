import { atomicStruct, kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, string } from "../../schema/types.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { MatchResources } from "./match-resources.ts";
import { checkParamKind, checkPolicy, checkValidation } from "./policy-rules.ts";

const ParamKind = atomicStruct(
  "ParamKind",
  "A kind of objects that hold parameters.",
  {
    apiVersion: field(1, string, "Group and version of the kind."),
    kind: field(2, string, "Name of the kind."),
  },
  { check: checkParamKind },
);

const Validation = struct(
  "Validation",
  "An expression that must hold.",
  {
    expression: field(1, string, "The expression; it must yield true.").declaredRequired(),
    message: field(2, string, "What is told when the expression doesn't hold."),
    reason: field(3, string, "Reason of the refusal, for programs.")
      .nullable()
      .knownValues(
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
      ),
  },
  { check: checkValidation },
);

const ValidatingAdmissionPolicySpec = struct(
  "ValidatingAdmissionPolicySpec",
  "What a policy demands of which requests.",
  {
    paramKind: field(1, ParamKind, "Kind of the policy's parameters; absent where it takes none.").nullable(),
    matchConstraints: field(2, MatchResources, "Which requests the policy is for.").nullable(),
    validations: field(3, list(Validation), "The expressions that must hold.").declaredRequired().atomic(),
    failurePolicy: field(4, string, "What follows when the policy can't be evaluated.")
      .nullable()
      .oneOf("Fail", "Ignore")
      .unpublishedDefault("Fail"),
  },
  { check: checkPolicy },
);

export const ValidatingAdmissionPolicy = kind({
  name: "ValidatingAdmissionPolicy",
  resource: "validatingadmissionpolicies",
  singular: "validatingadmissionpolicy",
  categories: ["api-extensions"],
  scope: "Cluster",
  anyFinalizer: true,
  allowUnconditionalUpdate: false,
  servedByDefault: false,
  doc: "Refuses writes for which its expressions don't hold.",
  effect: {
    enforced:
      "writes that match a policy and one of its bindings are rejected where its expressions do not hold, if the feature gate ValidatingAdmissionPolicy is on",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the policy.").emitEmpty(),
    spec: field(2, ValidatingAdmissionPolicySpec, "What the policy demands.").emitEmpty(),
  },
  generationOf: ({ spec }) => spec,
  columns: [
    nameColumn,
    {
      name: "Validations",
      type: "integer",
      doc: "How many expressions must hold.",
      cell: ({ spec }) => (spec?.validations ?? []).length,
    },
    {
      name: "ParamKind",
      type: "string",
      doc: "Kind of the parameters.",
      cell: ({ spec }) =>
        spec?.paramKind === undefined
          ? "<unset>"
          : `${spec.paramKind.apiVersion ?? ""}/${spec.paramKind.kind ?? ""}`,
    },
    ageColumn,
  ],
});
export type ValidatingAdmissionPolicy = ObjectFor<typeof ValidatingAdmissionPolicy>;
