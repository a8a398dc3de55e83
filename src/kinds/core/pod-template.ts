import { labelsText } from "../cells.ts";
import { nameColumn } from "../columns.ts";
import { templateWarnings } from "./pod/warnings.ts";
import { containerColumns } from "./pod/workload-columns.ts";
import { PodTemplateSpec } from "./pod/spec.ts";
import { kind } from "./v1.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field } from "../../schema/types.ts";

interface TemplateHolder extends ApiObject {
  template?: PodTemplateSpec | undefined;
}

export const PodTemplate = kind({
  name: "PodTemplate",
  resource: "podtemplates",
  singular: "podtemplate",
  scope: "Namespaced",
  returnsDeletedObject: true,
  doc: "A template for creating pods.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the template.").emitEmpty(),
    template: field(2, PodTemplateSpec, "Template from which the pods are created.").emitEmpty(),
  },
  generationOf: (holder) => holder.template,
  warnings: ({ template }, context) =>
    templateWarnings(template?.metadata, template?.spec, ["template"], context),
  columns: [
    nameColumn,
    ...containerColumns<TemplateHolder>((holder) => holder.template, 0),
    {
      name: "Pod Labels",
      type: "string",
      doc: "Labels of the pods.",
      cell: (holder) => labelsText(holder.template?.metadata?.labels),
    },
  ],
});
export type PodTemplate = ObjectFor<typeof PodTemplate>;
