import type { Conversion } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, list, string } from "../../schema/types.ts";
import { orNone } from "../cells.ts";
import { dnsSubdomain } from "../checks/names.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { declareStatus, type Declarations } from "./condition.ts";
import { checkDistinguisher, checkPrecedence } from "./flow-schema-rules.ts";
import { checkMandatory, mandatorySchemas } from "./mandatory.ts";
import { declarePolicyRules } from "./policy-rules.ts";

const defaultPrecedence = 1000;

/** Declares FlowSchema in one version of the group. */
export function declareFlowSchema<const V extends string>(
  declarations: Declarations<V>,
  mergesConditions: boolean,
  conversion?: Conversion,
) {
  return declarations.kind({
    name: "FlowSchema",
    resource: "flowschemas",
    singular: "flowschema",
    scope: "Cluster",
    doc: "Assigns requests to a priority level.",
    effect: { enforced: "assigns requests to a priority level" },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the flow schema.").emitEmpty(),
      spec: field(2, declareSpec(declarations), "Which requests are meant.").emitEmpty(),
      status: field(
        3,
        declareStatus(declarations, "FlowSchema", mergesConditions),
        "What became of it.",
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
        doc: "The priority level of the requests.",
        cell: ({ spec }) => spec?.priorityLevelConfiguration.name ?? "",
      },
      {
        name: "MatchingPrecedence",
        type: "string",
        doc: "Order among flow schemas.",
        cell: ({ spec }) => spec?.matchingPrecedence ?? 0,
      },
      {
        name: "DistinguisherMethod",
        type: "string",
        doc: "How the requests are told apart.",
        cell: ({ spec }) => orNone(spec?.distinguisherMethod?.type),
      },
      ageColumn,
      {
        name: "MissingPL",
        type: "string",
        doc: "Whether the priority level is missing.",
        cell: ({ status }) => status?.conditions?.find(({ type }) => type === "Dangling")?.status ?? "?",
      },
    ],
  });
}

function declareSpec(declarations: Declarations) {
  const { struct } = declarations;
  const level = struct("PriorityLevelConfigurationReference", "Names a priority level.", {
    name: field(1, string, "Name of the priority level.").required().check(dnsSubdomain),
  });
  const distinguisher = struct(
    "FlowDistinguisherMethod",
    "How the requests of a flow schema are told apart.",
    {
      type: field(1, string, "By user or by namespace.")
        .declaredRequired()
        .knownValues("ByNamespace", "ByUser"),
    },
    { check: checkDistinguisher },
  );
  return struct(
    "FlowSchemaSpec",
    "Which requests belong to which priority level.",
    {
      priorityLevelConfiguration: field(1, level, "The priority level of the requests.").required(),
      matchingPrecedence: field(
        2,
        int32,
        "Order among flow schemas; the lowest number that fits counts.",
      ).emitEmpty(),
      distinguisherMethod: field(
        3,
        distinguisher,
        "How the requests are told apart; absent where they aren't.",
      ).nullable(),
      rules: field(
        4,
        list(declarePolicyRules(declarations)),
        "Which requests are meant; one rule must fit.",
      ).atomic(),
    },
    {
      fill(copy) {
        copy.matchingPrecedence ||= defaultPrecedence;
      },
    },
  );
}
