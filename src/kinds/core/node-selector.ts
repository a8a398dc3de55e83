import { atomicStruct, struct } from "./v1.ts";
import { fieldRequirement, labelRequirement, labelValues } from "./node-selector-rules.ts";
import { each, notEmpty } from "../checks/values.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { field, list, string, type Static } from "../../schema/types.ts";

const NodeSelectorRequirement = struct(
  "NodeSelectorRequirement",
  "One condition on a node's label or field.",
  {
    key: field(1, string, "Label key or field that the condition is about.").declaredRequired(),
    operator: field(2, string, "Relation of the key to the values.")
      .declaredRequired()
      .oneOf("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn")
      .unchecked(),
    values: field(
      3,
      list(string),
      "Values that the operator takes; a single integer for Gt and Lt.",
    ).atomic(),
  },
);

export const NodeSelectorTerm = atomicStruct(
  "NodeSelectorTerm",
  "Conditions that must all hold; without any it selects no node.",
  {
    matchExpressions: field(1, list(NodeSelectorRequirement), "Conditions on the node's labels.")
      .atomic()
      .check(each(labelRequirement)),
    matchFields: field(2, list(NodeSelectorRequirement), "Conditions on the node's fields.")
      .atomic()
      .check(each(fieldRequirement)),
  },
);

/** Requires terms with valid label values. */
function someTerms(
  terms: readonly Static<typeof NodeSelectorTerm>[],
  report: FieldReport,
  context: KindContext,
): void {
  notEmpty(terms, report);
  labelValues(terms, report, context);
}

export const NodeSelector = atomicStruct(
  "NodeSelector",
  "Selects nodes that fulfil at least one of the terms.",
  {
    nodeSelectorTerms: field(1, list(NodeSelectorTerm), "The terms, of which one must hold.")
      .required()
      .atomic()
      .check(someTerms),
  },
);
