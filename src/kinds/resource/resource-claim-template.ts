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
  "The claims created from a template.",
  {
    metadata: field(1, ObjectMeta, "Labels and annotations of the claims.").emitEmpty(),
    spec: field(2, ResourceClaimSpec, "Requested resource.").required(),
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
  doc: "A template from which claims are created for pods.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the template.").emitEmpty(),
    spec: field(2, ResourceClaimTemplateSpec, "The claims to create; immutable.").required(),
  },
  validateUpdate({ spec }, live, report) {
    unchanged(spec, live.spec, report.at("spec"));
  },
  columns: [
    nameColumn,
    {
      name: "ResourceClassName",
      type: "string",
      doc: "Name of the ResourceClass.",
      cell: ({ spec }) => spec.spec.resourceClassName,
    },
    {
      name: "AllocationMode",
      type: "string",
      doc: "Time of the allocation of resources.",
      cell: ({ spec }) => spec.spec.allocationMode ?? "",
    },
    ageColumn,
  ],
});
export type ResourceClaimTemplate = ObjectFor<typeof ResourceClaimTemplate>;
