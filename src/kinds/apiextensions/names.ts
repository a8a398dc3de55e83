import { struct } from "./v1.ts";
import { field, list, string } from "../../schema/types.ts";
import { dns1035LabelFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

export const CustomResourceDefinitionNames = struct(
  "CustomResourceDefinitionNames",
  "Names under which a custom resource is served.",
  {
    plural: field(1, string, "Plural name of the resource, used in paths; lower case.").declaredRequired(),
    singular: field(2, string, "Singular name of the resource. Default: the kind in lower case."),
    shortNames: field(3, list(string), "Short names for command lines.").atomic(),
    kind: field(4, string, "Kind of the objects, in CamelCase.").declaredRequired(),
    listKind: field(5, string, "Kind of lists of the objects. Default: the kind with the suffix `List`."),
    categories: field(6, list(string), "Categories of the resource, such as `all`.").atomic(),
  },
  { check: checkNames },
);

interface Names {
  readonly plural: string;
  readonly singular?: string | undefined;
  readonly shortNames?: readonly string[] | undefined;
  readonly kind: string;
  readonly listKind?: string | undefined;
  readonly categories?: readonly string[] | undefined;
}

/** Checks the form of names; required names are checked elsewhere. */
function checkNames(names: Names, report: FieldReport): void {
  label(names.plural, report.at("plural"));
  if (names.singular !== undefined) label(names.singular, report.at("singular"));
  mixedCaseLabel(names.kind, report.at("kind"));
  if (names.listKind !== undefined) mixedCaseLabel(names.listKind, report.at("listKind"));
  if (names.kind !== "" && names.kind === names.listKind) {
    report.at("listKind").invalid(names.listKind, "kind and listKind may not be the same");
  }
  for (const member of ["shortNames", "categories"] as const) {
    for (const [index, name] of (names[member] ?? []).entries()) {
      if (report.full) return;
      for (const message of dns1035LabelFaults(name)) report.at(member, index).invalid(name, message);
    }
  }
}

function label(name: string, report: FieldReport): void {
  if (name === "") return;
  for (const message of dns1035LabelFaults(name)) report.invalid(name, message);
}

function mixedCaseLabel(name: string, report: FieldReport): void {
  if (name === "") return;
  for (const message of dns1035LabelFaults(name.toLowerCase())) {
    report.invalid(name, `may have mixed case, but should otherwise match: ${message}`);
  }
}
