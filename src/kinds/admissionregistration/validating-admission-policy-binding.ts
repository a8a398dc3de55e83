import { atomicStruct, kind, struct } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string } from "../../schema/types.ts";
import { dnsSubdomain, pathSegment } from "../checks/names.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { MatchResources } from "./match-resources.ts";

interface Reference {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

function paramText(reference: Reference | undefined): string {
  if (reference === undefined) return "<unset>";
  const { name = "", namespace = "" } = reference;
  return namespace === "" ? name : `${namespace}/${name}`;
}

const ParamRef = atomicStruct("ParamRef", "Names the object that holds a policy's parameters.", {
  name: field(1, string, "Name of the object.").check(pathSegment),
  namespace: field(2, string, "Namespace of the object; absent for cluster-wide ones."),
});

const ValidatingAdmissionPolicyBindingSpec = struct(
  "ValidatingAdmissionPolicyBindingSpec",
  "Where a policy holds, with which parameters.",
  {
    policyName: field(1, string, "Name of the policy.").mustBeGiven().check(dnsSubdomain),
    paramRef: field(2, ParamRef, "The object with the parameters.").nullable(),
    matchResources: field(3, MatchResources, "Narrows the requests for which the policy holds.").nullable(),
  },
);

export const ValidatingAdmissionPolicyBinding = kind({
  name: "ValidatingAdmissionPolicyBinding",
  resource: "validatingadmissionpolicybindings",
  singular: "validatingadmissionpolicybinding",
  categories: ["api-extensions"],
  scope: "Cluster",
  anyFinalizer: true,
  allowUnconditionalUpdate: false,
  servedByDefault: false,
  doc: "Puts a policy into force.",
  effect: {
    enforced: "writes that the bound policy matches are rejected where its expressions do not hold",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the binding.").emitEmpty(),
    spec: field(2, ValidatingAdmissionPolicyBindingSpec, "Where the policy holds.").emitEmpty(),
  },
  generationOf: ({ spec }) => spec,
  columns: [
    nameColumn,
    {
      name: "PolicyName",
      type: "string",
      doc: "Name of the policy.",
      cell: ({ spec }) => spec?.policyName ?? "",
    },
    {
      name: "ParamRef",
      type: "string",
      doc: "The object with the parameters.",
      cell: ({ spec }) => paramText(spec?.paramRef),
    },
    ageColumn,
  ],
});
export type ValidatingAdmissionPolicyBinding = ObjectFor<typeof ValidatingAdmissionPolicyBinding>;
