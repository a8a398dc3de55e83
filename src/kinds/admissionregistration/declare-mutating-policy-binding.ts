import type { Conversion } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string } from "../../schema/types.ts";
import { dnsSubdomain } from "../checks/names.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { declareParamRef } from "./declare-policy-binding.ts";
import { declareMatchResources, type AdmissionDeclarations } from "./match-resources.ts";
import { checkMutatedOperations } from "./mutating-policy-rules.ts";

/** Formats the parameters of a binding for a column: any namespace is `*`. */
function paramText(
  reference: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined,
): string {
  const { name = "", namespace = "" } = reference ?? {};
  return name === "" ? "<unset>" : `${namespace === "" ? "*" : namespace}/${name}`;
}

/** Declares MutatingAdmissionPolicyBinding in one version of the group. */
export function declareMutatingAdmissionPolicyBinding<const V extends string>(
  declarations: AdmissionDeclarations<V>,
  { servedByDefault, conversion }: { readonly servedByDefault: boolean; readonly conversion?: Conversion },
) {
  return declarations.kind({
    name: "MutatingAdmissionPolicyBinding",
    resource: "mutatingadmissionpolicybindings",
    singular: "mutatingadmissionpolicybinding",
    categories: ["api-extensions"],
    scope: "Cluster",
    anyFinalizer: true,
    allowUnconditionalUpdate: false,
    servedByDefault,
    doc: "Puts a mutating policy into force.",
    effect: { enforced: "objects that the bound policy matches are changed by its mutations" },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the binding.").emitEmpty(),
      spec: field(2, declareSpec(declarations), "Where the policy applies.").emitEmpty(),
    },
    ...(conversion === undefined ? {} : { conversion }),
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
}

function declareSpec(declarations: Pick<AdmissionDeclarations, "struct" | "atomicStruct">) {
  return declarations.struct(
    "MutatingAdmissionPolicyBindingSpec",
    "Where a policy applies, with which parameters.",
    {
      policyName: field(1, string, "Name of the policy.").mustBeGiven().check(dnsSubdomain),
      paramRef: field(2, declareParamRef(declarations), "The object with the parameters.").nullable(),
      matchResources: field(
        3,
        declareMatchResources(declarations),
        "Narrows the requests to which the policy applies.",
      ).nullable(),
    },
    {
      check: ({ matchResources }, report) =>
        checkMutatedOperations(matchResources, report.at("matchResources")),
    },
  );
}
