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
        "Rules that match requests; one must match.",
      ).atomic(),
    },
    {
      fill(copy) {
        copy.matchingPrecedence ||= defaultPrecedence;
      },
    },
  );
}
