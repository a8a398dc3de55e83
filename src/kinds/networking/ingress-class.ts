import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkController, checkParameters } from "./ingress-class-rules.ts";
import { kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string } from "../../schema/types.ts";

const IngressClassParametersReference = struct(
  "IngressClassParametersReference",
  "Names an object with the settings of an ingress class.",
  {
    apiGroup: field(1, string, "Group of the object; absent for the core group.").nullable(),
    kind: field(2, string, "Kind of the object.").required(),
    name: field(3, string, "Name of the object.").required(),
    scope: field(4, string, "Whether the object is of the cluster or of a namespace.")
      .emitEmpty()
      .nullable()
      .unpublishedDefault("Cluster"),
    namespace: field(5, string, "Namespace of the object, where it has one.").nullable(),
  },
);

const IngressClassSpec = struct(
  "IngressClassSpec",
  "What an ingress class is.",
  {
    controller: field(1, string, "Controller that serves ingresses of the class; it can't be changed."),
    parameters: field(2, IngressClassParametersReference, "Object with further settings.")
      .nullable()
      .check(checkParameters),
  },
  { check: (spec, report) => checkController(spec.controller ?? "", report.at("controller")) },
);

export const IngressClass = kind({
  name: "IngressClass",
  resource: "ingressclasses",
  singular: "ingressclass",
  scope: "Cluster",
  doc: "A class of ingresses and the controller that serves them.",
  effect: { enforced: "new ingresses without a class get the default one (plugin DefaultIngressClass)" },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the class.").emitEmpty(),
    spec: field(2, IngressClassSpec, "What the class is.").emitEmpty(),
  },
  generationOf: ({ spec }) => spec,
  validateUpdate(ingressClass, live, report) {
    unchanged(ingressClass.spec?.controller, live.spec?.controller, report.at("spec", "controller"));
  },
  columns: [
    nameColumn,
    {
      name: "Controller",
      type: "string",
      doc: "Controller that serves ingresses of the class.",
      cell: ({ spec }) => spec?.controller ?? "",
    },
    {
      name: "Parameters",
      type: "string",
      doc: "Object with further settings.",
      cell: ({ spec }) => {
        if (spec?.parameters === undefined) return "<none>";
        const { apiGroup, kind: kindName, name } = spec.parameters;
        return apiGroup === undefined ? `${kindName}/${name}` : `${kindName}.${apiGroup}/${name}`;
      },
    },
    ageColumn,
  ],
});
export type IngressClass = ObjectFor<typeof IngressClass>;
