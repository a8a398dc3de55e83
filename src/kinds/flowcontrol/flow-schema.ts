import * as v1 from "./v1.ts";
import * as v1beta2 from "./v1beta2.ts";
import * as v1beta3 from "./v1beta3.ts";
import type { ObjectFor, Conversion } from "../../schema/kind.ts";
import { sameFields } from "../same-fields.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, list, string, bool } from "../../schema/types.ts";
import { orNone } from "../cells.ts";
import { dnsSubdomain } from "../checks/names.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { declareStatus, type Declarations } from "./condition.ts";
import {
  checkDistinguisher,
  checkPrecedence,
  checkAccount,
  checkResourceRule,
  checkRules,
  checkSubject,
  checkUrlRule,
} from "./flow-schema-rules.ts";
import { checkMandatory, mandatorySchemas } from "./mandatory.ts";

const defaultPrecedence = 1000;

/** Declares FlowSchema in one version of the group. */
function declareFlowSchema<const V extends string>(
  declarations: Declarations<V>,
  mergesConditions: boolean,
  conversion?: Conversion,
) {
  return declarations.kind({
    name: "FlowSchema",
    resource: "flowschemas",
    singular: "flowschema",
    scope: "Cluster",
    doc: "Assigns matching requests to a priority level.",
    effect: { enforced: "assigns requests to a priority level" },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the flow schema.").emitEmpty(),
      spec: field(2, declareSpec(declarations), "The matched requests and their priority level.").emitEmpty(),
      status: field(
        3,
        declareStatus(declarations, "FlowSchema", mergesConditions),
        "Observed state of the flow schema.",
      ).emitEmpty(),
    },
    ...(conversion === undefined ? {} : { conversion }),
    generationOf: ({ spec }) => spec,
    validate({ metadata, spec }, report, { vocabulary }) {
      const { name = "" } = metadata;
      checkPrecedence(spec?.matchingPrecedence ?? 0, name, report.at("spec", "matchingPrecedence"));
      checkMandatory(name, spec, mandatorySchemas(vocabulary), report.at("spec"));
    },
    status: {
      initial: () => ({}),
      keepsMetadata: "all",
    },
    columns: [
      nameColumn,
      {
        name: "PriorityLevel",
        type: "string",
        doc: "Priority level of the requests.",
        cell: ({ spec }) => spec?.priorityLevelConfiguration.name ?? "",
      },
      {
        name: "MatchingPrecedence",
        type: "string",
        doc: "Order among the flow schemas; lower numbers are tried first.",
        cell: ({ spec }) => spec?.matchingPrecedence ?? 0,
      },
      {
        name: "DistinguisherMethod",
        type: "string",
        doc: "Method of dividing the requests into flows.",
        cell: ({ spec }) => orNone(spec?.distinguisherMethod?.type),
      },
      ageColumn,
      {
        name: "MissingPL",
        type: "string",
        doc: "Whether the priority level does not exist.",
        cell: ({ status }) => status?.conditions?.find(({ type }) => type === "Dangling")?.status ?? "?",
      },
    ],
  });
}

function declareSpec(declarations: Declarations) {
  const { struct } = declarations;
  const level = struct("PriorityLevelConfigurationReference", "Reference to a priority level.", {
    name: field(1, string, "Name of the priority level.").required().check(dnsSubdomain),
  });
  const distinguisher = struct(
    "FlowDistinguisherMethod",
    "Method of dividing the requests of a flow schema into flows.",
    {
      type: field(1, string, "Method of dividing the requests: ByUser or ByNamespace.")
        .declaredRequired()
        .knownValues("ByNamespace", "ByUser"),
    },
    { check: checkDistinguisher },
  );
  return struct(
    "FlowSchemaSpec",
    "The matched requests and their priority level.",
    {
      priorityLevelConfiguration: field(1, level, "Priority level of the requests.").required(),
      matchingPrecedence: field(
        2,
        int32,
        "Order among the flow schemas, 1 to 10000; lower numbers are tried first. Default: 1000.",
      ).emitEmpty(),
      distinguisherMethod: field(
        3,
        distinguisher,
        "Method of dividing the requests into flows; absent for a single flow.",
      ).nullable(),
      rules: field(
        4,
        list(declarePolicyRules(declarations)),
        "Rules that match requests; at least one must match.",
      ).atomic(),
    },
    {
      fill(copy) {
        copy.matchingPrecedence ||= defaultPrecedence;
      },
    },
  );
}

/** Declares the rules that select requests and subjects, in one version of the group. */
function declarePolicyRules(declarations: Declarations) {
  const { struct } = declarations;
  const resourceRule = struct(
    "ResourcePolicyRule",
    "Matches requests for resources.",
    {
      verbs: field(1, list(string), "Verbs of the requests; `*` matches all and must be the only item.")
        .declaredRequired()
        .set(),
      apiGroups: field(
        2,
        list(string),
        "API groups of the resources; `*` matches all and must be the only item.",
      )
        .declaredRequired()
        .set(),
      resources: field(
        3,
        list(string),
        "Resources and subresources such as `pods/status`; `*` matches all and must be the only item.",
      )
        .declaredRequired()
        .set(),
      clusterScope: field(4, bool, "Whether requests without a namespace match."),
      namespaces: field(
        5,
        list(string),
        "Namespaces of the resources; `*` matches all and must be the only item.",
      )
        .emitEmpty()
        .set(),
    },
    { check: checkResourceRule },
  );
  const urlRule = struct(
    "NonResourcePolicyRule",
    "Matches requests for URL paths.",
    {
      verbs: field(1, list(string), "Verbs of the requests; `*` matches all and must be the only item.")
        .declaredRequired()
        .set(),
      nonResourceURLs: field(6, list(string), "URL paths; `*` at the end matches any suffix.")
        .declaredRequired()
        .set(),
    },
    { check: checkUrlRule },
  );
  return struct(
    "PolicyRulesWithSubjects",
    "Subjects and requests; a request matches if both its subject and a rule match.",
    {
      subjects: field(
        1,
        list(declareSubject(declarations)),
        "Users, groups and service accounts that make the requests; at least one must match.",
      )
        .declaredRequired()
        .atomic(),
      resourceRules: field(2, list(resourceRule), "Rules that match requests for resources.").atomic(),
      nonResourceRules: field(3, list(urlRule), "Rules that match requests for URL paths.").atomic(),
    },
    { check: checkRules },
  );
}

function declareSubject({ struct }: Declarations) {
  const user = struct("UserSubject", "A user.", {
    name: field(1, string, "Name of the user; `*` matches every user.").required(),
  });
  const group = struct("GroupSubject", "A group of users.", {
    name: field(1, string, "Name of the group; `*` matches every group.").required(),
  });
  const account = struct(
    "ServiceAccountSubject",
    "A service account.",
    {
      namespace: field(1, string, "Namespace of the account.").declaredRequired(),
      name: field(2, string, "Name of the account; `*` matches every account of the namespace.").required(),
    },
    { check: checkAccount },
  );
  return struct(
    "Subject",
    "A user, group or service account.",
    {
      kind: field(1, string, "Kind of the subject: User, Group or ServiceAccount.")
        .declaredRequired()
        .knownValues("Group", "ServiceAccount", "User"),
      user: field(2, user, "The user; only for the kind User.").nullable(),
      group: field(3, group, "The group; only for the kind Group.").nullable(),
      serviceAccount: field(4, account, "The account; only for the kind ServiceAccount.").nullable(),
    },
    { check: checkSubject },
  );
}

/** The stored version, which the previous release serves too (spec: conventions 9.2, rule 4b). */
export const FlowSchemaV1beta2 = declareFlowSchema(v1beta2, false);
export type FlowSchemaV1beta2 = ObjectFor<typeof FlowSchemaV1beta2>;

/** The newer versions differ from v1beta2 only in their names. */
const conversion = sameFields(() => FlowSchemaV1beta2);

export const FlowSchema = declareFlowSchema(v1beta3, true, conversion);
export type FlowSchema = ObjectFor<typeof FlowSchema>;

/** Release 1.29 and later. */
export const FlowSchemaV1 = declareFlowSchema(v1, true, conversion);
export type FlowSchemaV1 = ObjectFor<typeof FlowSchemaV1>;
