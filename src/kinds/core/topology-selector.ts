import { atomicStruct, struct } from "./v1.ts";
import { type Static, field, list, string } from "../../schema/types.ts";

const TopologySelectorLabelRequirement = struct(
  "TopologySelectorLabelRequirement",
  "One condition on the labels of a topology.",
  {
    key: field(1, string, "Label key that the condition is about.").declaredRequired(),
    values: field(2, list(string), "Values of which the label must have one.").declaredRequired().atomic(),
  },
);

export const TopologySelectorTerm = atomicStruct(
  "TopologySelectorTerm",
  "Topologies in which volumes may be made; all conditions must hold.",
  {
    matchLabelExpressions: field(1, list(TopologySelectorLabelRequirement), "The conditions.").atomic(),
  },
);
export type TopologySelectorTerm = Static<typeof TopologySelectorTerm>;
