import { atomicStruct, struct } from "../../schema/meta.ts";
import { type Static, field, list, map, string } from "../../schema/types.ts";

export const LabelSelectorRequirement = struct("LabelSelectorRequirement", "A requirement on a label.", {
  key: field(1, string, "Key of the label.").declaredRequired().patchMerge("key"),
  operator: field(2, string, "Operator: In, NotIn, Exists or DoesNotExist.")
    .declaredRequired()
    .knownValues("DoesNotExist", "Exists", "In", "NotIn"),
  values: field(3, list(string), "Values for In and NotIn; empty for the others.").atomic(),
});

export const LabelSelector = atomicStruct(
  "LabelSelector",
  "A label selector; all requirements must match, and an empty selector matches everything.",
  {
    matchLabels: field(1, map(string), "Labels that objects must have, with exactly these values."),
    matchExpressions: field(2, list(LabelSelectorRequirement), "Further requirements on labels.").atomic(),
  },
);
export type LabelSelector = Static<typeof LabelSelector>;
