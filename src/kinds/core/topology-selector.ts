import { atomicStruct, struct } from "./v1.ts";
import { type Static, field, list, string } from "../../schema/types.ts";

const TopologySelectorLabelRequirement = struct(
  "TopologySelectorLabelRequirement",
  "A requirement on a label of a topology.",
  {
    key: field(1, string, "Key of the label.").declaredRequired(),
    values: field(2, list(string), "Values, of which the label must have one.").declaredRequired().atomic(),
  },
);

export const TopologySelectorTerm = atomicStruct(
  "TopologySelectorTerm",
  "A topology in which volumes can be provisioned; all requirements must match.",
  {
    matchLabelExpressions: field(
      1,
      list(TopologySelectorLabelRequirement),
      "Requirements on the topology's labels.",
    ).atomic(),
  },
);
export type TopologySelectorTerm = Static<typeof TopologySelectorTerm>;
