import { atomicStruct, struct } from "../../schema/meta.ts";
import { type Static, field, list, map, string } from "../../schema/types.ts";

export const LabelSelectorRequirement = struct(
  "LabelSelectorRequirement",
  "One condition on a label: a key, an operator, and values where the operator takes them.",
  {
    key: field(1, string, "Label key that the condition is about.").declaredRequired().patchMerge("key"),
    operator: field(2, string, "Relation of the key to the values.")
      .declaredRequired()
      .knownValues("DoesNotExist", "Exists", "In", "NotIn"),
    values: field(3, list(string), "Values for In and NotIn; empty for the others.").atomic(),
  },
);

export const LabelSelector = atomicStruct(
  "LabelSelector",
  "Selects objects by labels. All conditions must hold; an empty selector selects everything.",
  {
    matchLabels: field(1, map(string), "Labels that must have exactly these values."),
    matchExpressions: field(2, list(LabelSelectorRequirement), "Further conditions.").atomic(),
  },
);
export type LabelSelector = Static<typeof LabelSelector>;
