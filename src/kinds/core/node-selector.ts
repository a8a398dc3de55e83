import { since } from "../../base/release-rows.ts";
import { atomicStruct, struct } from "./v1.ts";
import { fieldRequirement, labelRequirement, labelValues } from "./node-selector-rules.ts";
import { each, notEmpty } from "../checks/values.ts";
import { field, list, string } from "../../schema/types.ts";

const NodeSelectorRequirement = struct(
  "NodeSelectorRequirement",
  "A requirement on a label or field of a node.",
  {
    key: field(1, string, "Key of the label or name of the field.").declaredRequired(),
    operator: field(2, string, "Operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.")
      .declaredRequired()
      .oneOf("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn")
      .unchecked(),
    values: field(
      3,
      list(string),
      "Values for In and NotIn; one integer for Gt and Lt; empty for the others.",
    ).atomic(),
  },
);

export const NodeSelectorTerm = atomicStruct(
  "NodeSelectorTerm",
  "A term of a node selector; all requirements must match, and an empty term matches no node.",
  {
    matchExpressions: field(1, list(NodeSelectorRequirement), "Requirements on the node's labels.")
      .atomic()
      .check(each(labelRequirement)),
    matchFields: field(2, list(NodeSelectorRequirement), "Requirements on the node's fields.")
      .atomic()
      .check(each(fieldRequirement)),
  },
);

export const NodeSelector = atomicStruct(
  "NodeSelector",
  "A node selector; a node matches if one of the terms matches.",
  {
    nodeSelectorTerms: field(1, list(NodeSelectorTerm), "Terms of the selector; one must match.")
      .required()
      .atomic()
      .check(notEmpty)
      .check(since("1.32", labelValues)),
  },
);
