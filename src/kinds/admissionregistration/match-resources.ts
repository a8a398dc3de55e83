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
    "Which operations on which resources, and which names, are meant.",
    {
      resourceNames: field(1, list(string), "Names of the objects that are meant; empty for all.").atomic(),
      ...inlined(2, RuleWithOperations),
    },
    { check: checkNamedRule },
  );
  return atomicStruct("MatchResources", "Which requests are meant.", {
    namespaceSelector: field(1, LabelSelector, "Selects the namespaces whose objects are meant.")
      .nullable()
      .unpublishedDefault({})
      .check(labelSelector),
    objectSelector: field(2, LabelSelector, "Selects the objects that are meant, by their labels.")
      .nullable()
      .unpublishedDefault({})
      .check(labelSelector),
    resourceRules: field(
      3,
      list(NamedRuleWithOperations),
      "Which requests are meant; one rule must fit.",
    ).atomic(),
    excludeResourceRules: field(
      4,
      list(NamedRuleWithOperations),
      "Which requests are left out, whatever the other rules say.",
    ).atomic(),
    matchPolicy: field(7, string, "Whether a request for another version of a resource matches too.")
      .nullable()
      .oneOf("Equivalent", "Exact")
      .unpublishedDefault("Equivalent"),
  });
}
