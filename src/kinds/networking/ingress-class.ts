import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string } from "../../schema/types.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { dnsLabel, domainPrefixedPath } from "../checks/names.ts";
import { checkLocalObject } from "./ingress-rules.ts";

const maxControllerLength = 250;
const scopes = ["Cluster", "Namespace"];

/** Requires the name of a controller: `example.com/name`. */
function checkController(controller: string, report: FieldReport): void {
  if (Buffer.byteLength(controller) > maxControllerLength) report.tooLong(maxControllerLength);
  domainPrefixedPath(controller, report);
}

interface Parameters {
  readonly apiGroup?: string | null | undefined;
  readonly kind: string;
  readonly name: string;
  readonly scope?: string | undefined;
  readonly namespace?: string | undefined;
}

/** Checks a reference to a cluster-scoped object, or to an object in a namespace. */
function checkParameters(parameters: Parameters, report: FieldReport): void {
  checkLocalObject(parameters, report);
  const { scope = "", namespace } = parameters;
  const here = report.at("namespace");
  if (!scopes.includes(scope)) report.at("scope").notSupported(scope, scopes);
  else if (scope === "Namespace") {
    if (namespace === undefined) here.required("`parameters.scope` is set to 'Namespace'");
    else dnsLabel(namespace, here);
  } else if (namespace !== undefined) here.forbidden("`parameters.scope` is set to 'Cluster'");
}

const IngressClassParametersReference = struct(
  "IngressClassParametersReference",
  "Reference to an object with parameters of an ingress class.",
  {
    apiGroup: field(1, string, "API group of the object; absent for the core group.").nullable(),
    kind: field(2, string, "Kind of the object.").required(),
    name: field(3, string, "Name of the object.").required(),
    scope: field(4, string, "Scope of the object: Cluster or Namespace. Default: Cluster.")
      .emitEmpty()
      .nullable()
      .unpublishedDefault("Cluster"),
    namespace: field(5, string, "Namespace of the object; only for the scope Namespace.").nullable(),
  },
);

const IngressClassSpec = struct(
  "IngressClassSpec",
  "The controller of an ingress class and its parameters.",
  {
    controller: field(1, string, "Name of the controller that serves ingresses of the class; immutable."),
    parameters: field(2, IngressClassParametersReference, "Object with parameters for the controller.")
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
    spec: field(2, IngressClassSpec, "The controller of the class and its parameters.").emitEmpty(),
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
      doc: "Name of the controller that serves ingresses of the class.",
      cell: ({ spec }) => spec?.controller ?? "",
    },
    {
      name: "Parameters",
      type: "string",
      doc: "Object with parameters for the controller.",
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
