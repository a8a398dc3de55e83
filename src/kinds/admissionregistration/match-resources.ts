import type { Declarations } from "../../schema/kind.ts";
import { field, inlined, list, string } from "../../schema/types.ts";
import { labelSelector } from "../checks/selectors.ts";
import type { admissionregistration } from "../groups.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { checkNamedRule } from "./policy-rules.ts";
import { RuleWithOperations } from "./webhook.ts";

/** The functions that declare the kinds and structs of a version of the group. */
export type AdmissionDeclarations<V extends string = string> = Declarations<typeof admissionregistration, V>;

/** Declares the rules and selectors of a policy or binding in one version of the group. */
export function declareMatchResources({ atomicStruct }: Pick<AdmissionDeclarations, "atomicStruct">) {
  const NamedRuleWithOperations = atomicStruct(
    "NamedRuleWithOperations",
    "A rule that matches operations, resources and object names.",
    {
      resourceNames: field(1, list(string), "Names of the objects; empty matches all.").atomic(),
      ...inlined(2, RuleWithOperations),
    },
    { check: checkNamedRule },
  );
  return atomicStruct("MatchResources", "Requests that a policy or a binding matches.", {
    namespaceSelector: field(1, LabelSelector, "Label selector of the objects' namespaces. Default: all.")
      .nullable()
      .unpublishedDefault({})
      .check(labelSelector),
    objectSelector: field(2, LabelSelector, "Label selector of the objects. Default: all.")
      .nullable()
      .unpublishedDefault({})
      .check(labelSelector),
    resourceRules: field(
      3,
      list(NamedRuleWithOperations),
      "Rules for matching requests; at least one must match.",
    ).atomic(),
    excludeResourceRules: field(
      4,
      list(NamedRuleWithOperations),
      "Rules for requests to exclude, even if `resourceRules` match.",
    ).atomic(),
    matchPolicy: field(
      7,
      string,
      "Match policy: Exact, or Equivalent to match other versions of a resource too. Default: Equivalent.",
    )
      .nullable()
      .oneOf("Equivalent", "Exact")
      .unpublishedDefault("Equivalent"),
  });
}
