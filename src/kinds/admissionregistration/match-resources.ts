import { atomicStruct } from "./v1alpha1.ts";
import { field, inlined, list, string } from "../../schema/types.ts";
import { labelSelector } from "../checks/selectors.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { checkNamedRule } from "./policy-rules.ts";
import { RuleWithOperations } from "./webhook.ts";

const NamedRuleWithOperations = atomicStruct(
  "NamedRuleWithOperations",
  "Which operations on which resources, and which names, are meant.",
  {
    resourceNames: field(1, list(string), "Names of the objects that are meant; empty for all.").atomic(),
    ...inlined(2, RuleWithOperations),
  },
  { check: checkNamedRule },
);

export const MatchResources = atomicStruct("MatchResources", "Which requests are meant.", {
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
