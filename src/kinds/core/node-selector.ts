import { since } from "../../base/release-rows.ts";
import { atomicStruct, struct } from "./v1.ts";
import { each, notEmpty } from "../checks/values.ts";
import { field, list, string } from "../../schema/types.ts";
import { dnsSubdomainFaults, labelValueFaults, qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

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
    nodeSelectorTerms: field(1, list(NodeSelectorTerm), "Terms of the selector; at least one must match.")
      .required()
      .atomic()
      .check(notEmpty)
      .check(since("1.32", labelValues)),
  },
);

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/** Checks a requirement for a node label. */
function labelRequirement(requirement: Requirement, report: FieldReport): void {
  const count = requirement.values?.length ?? 0;
  switch (requirement.operator) {
    case "In":
    case "NotIn":
      if (count === 0) report.at("values").required("the operator needs at least one value");
      break;
    case "Exists":
    case "DoesNotExist":
      if (count > 0) report.at("values").forbidden("the operator takes no values");
      break;
    case "Gt":
    case "Lt":
      if (count !== 1) report.at("values").required("the operator needs a single value");
      break;
    default:
      report.at("operator").invalid(requirement.operator, "not a valid selector operator");
  }
  for (const message of qualifiedNameFaults(requirement.key))
    report.at("key").invalid(requirement.key, message);
}

/** Checks that the values of requirements are label values. */
function labelValues(
  terms: readonly { readonly matchExpressions?: readonly Requirement[] | undefined }[],
  report: FieldReport,
): void {
  for (const [index, { matchExpressions = [] }] of terms.entries())
    for (const [position, { values = [] }] of matchExpressions.entries())
      for (const [at, value] of values.entries()) {
        if (report.full) return;
        for (const message of labelValueFaults(value))
          report.at(index, "matchExpressions", position, "values", at).invalid(value, message);
      }
}

/** Checks a requirement for a node field; only the name is supported. */
function fieldRequirement(requirement: Requirement, report: FieldReport): void {
  const { key, operator, values = [] } = requirement;
  if (operator !== "In" && operator !== "NotIn") {
    report.at("operator").invalid(operator, "not a valid selector operator");
  } else if (values.length !== 1) {
    report.at("values").required("the operator needs exactly one value for a field");
  }
  if (key !== "metadata.name") {
    report.at("key").invalid(key, "not a valid field selector key");
    return;
  }
  for (const [index, value] of values.entries()) {
    for (const message of dnsSubdomainFaults(value)) report.at("values", index).invalid(value, message);
  }
}
