import { kind, struct } from "./v1.ts";
import { decode } from "../../schema/decode.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, bool, field, list, string } from "../../schema/types.ts";
import { definitionColumns } from "./definition-columns.ts";
import { CustomResourceConversion } from "./conversion.ts";
import { CustomResourceDefinitionStatus } from "./custom-resource-definition-status.ts";
import {
  checkApproval,
  checkDefinitionChange,
  checkSpec,
  checkStoredVersions,
  noteStoredVersion,
} from "./definition-rules.ts";
import { beginDeletion } from "./deletion.ts";
import { checkRules } from "./expression-rules.ts";
import { CustomResourceDefinitionNames } from "./names.ts";
import { shownFaults } from "./shared-members.ts";
import { CustomResourceDefinitionVersion } from "./version.ts";

const CustomResourceDefinitionSpec = struct(
  "CustomResourceDefinitionSpec",
  "A custom kind: its group, names, scope and versions.",
  {
    group: field(1, string, "API group of the resource.").required(),
    names: field(3, CustomResourceDefinitionNames, "Names of the resource and the kind.").required(),
    scope: field(4, string, "Scope of the objects: Cluster or Namespaced.")
      .required()
      .knownValues("Cluster", "Namespaced"),
    versions: field(7, list(CustomResourceDefinitionVersion), "Versions of the kind.")
      .declaredRequired()
      .atomic(),
    conversion: field(
      9,
      CustomResourceConversion,
      "Conversion of objects between versions. Default: the strategy None.",
    )
      .nullable()
      .unpublishedDefault({ strategy: "None" }),
    preserveUnknownFields: field(10, bool, "Deprecated; must be false."),
  },
  {
    fill({ names }) {
      names.singular ??= names.kind.toLowerCase();
      if (names.kind !== "") names.listKind ??= `${names.kind}List`;
    },
    check: checkSpec,
  },
);

/** Returns the status of a new definition. It contains the members that are always written. */
function emptyStatus(): Static<typeof CustomResourceDefinitionStatus> {
  return decode(CustomResourceDefinitionStatus, {}).value as Static<typeof CustomResourceDefinitionStatus>;
}

export const CustomResourceDefinition = kind({
  name: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  singular: "customresourcedefinition",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  scope: "Cluster",
  anyFinalizer: true,
  allowUnconditionalUpdate: false,
  hasPrefixedFields: true,
  doc: "Defines a custom kind, which the server then serves.",
  effect: {
    acts: "the kind that it defines is served",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the definition; its name is `plural.group`.").emitEmpty(),
    spec: field(2, CustomResourceDefinitionSpec, "The custom kind.").required(),
    status: field(3, CustomResourceDefinitionStatus, "The observed state of the definition.").emitEmpty(),
  },
  fillDefaults(copy) {
    if ((copy.status?.storedVersions ?? []).length === 0) noteStoredVersion(copy);
  },
  generationOf: ({ spec }) => spec,
  prepareCreate(copy) {
    noteStoredVersion(copy);
  },
  prepareUpdate(copy) {
    noteStoredVersion(copy);
  },
  validate({ metadata, spec, status }, report) {
    const required = `${spec.names.plural}.${spec.group}`;
    if (metadata.name !== required) {
      report
        .at("metadata", "name")
        .invalid(metadata.name, `must be spec.names.plural+"."+spec.group: ${required}`);
    }
    checkStoredVersions(
      status?.storedVersions ?? [],
      spec.versions ?? [],
      report.at("status", "storedVersions"),
    );
  },
  validateCreate: (definition, report, context) => checkApproval(definition, undefined, report, context),
  validateUpdate(definition, live, report, context) {
    checkDefinitionChange(definition, live, report, context);
    checkApproval(definition, live, report, context);
  },
  validateLast: checkRules,
  convertFaults: shownFaults,
  beginDelete: (copy, { vocabulary }) => beginDeletion(copy, vocabulary),
  status: {
    initial: emptyStatus,
  },
  columns: definitionColumns,
});
export type CustomResourceDefinition = ObjectFor<typeof CustomResourceDefinition>;
