import { kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field } from "../../schema/types.ts";
import { annotationMap, labelMap } from "../checks/names.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { ResourceClaimSpec } from "./resource-claim.ts";

const ResourceClaimTemplateSpec = struct(
  "ResourceClaimTemplateSpec",
  "The claims that are made from a template.",
  {
    metadata: field(1, ObjectMeta, "Labels and annotations of the claims.").emitEmpty(),
    spec: field(2, ResourceClaimSpec, "What is claimed.").required(),
  },
  {
    check({ metadata }, report) {
      labelMap(metadata?.labels ?? {}, report.at("metadata", "labels"));
      annotationMap(metadata?.annotations ?? {}, report.at("metadata", "annotations"));
    },
  },
);

export const ResourceClaimTemplate = kind({
  name: "ResourceClaimTemplate",
  resource: "resourceclaimtemplates",
  singular: "resourceclaimtemplate",
  scope: "Namespaced",
  returnsDeletedObject: true,
  servedByDefault: false,
  doc: "A template of claims that are made for pods.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the template.").emitEmpty(),
    spec: field(2, ResourceClaimTemplateSpec, "The claims; it can't be changed.").required(),
  },
  validateUpdate({ spec }, live, report) {
    unchanged(spec, live.spec, report.at("spec"));
  },
  columns: [
    nameColumn,
    {
      name: "ResourceClassName",
      type: "string",
      doc: "Class of the claims.",
      cell: ({ spec }) => spec.spec.resourceClassName,
    },
    {
      name: "AllocationMode",
      type: "string",
      doc: "When the resources are provided.",
      cell: ({ spec }) => spec.spec.allocationMode ?? "",
    },
    ageColumn,
  ],
});
export type ResourceClaimTemplate = ObjectFor<typeof ResourceClaimTemplate>;
