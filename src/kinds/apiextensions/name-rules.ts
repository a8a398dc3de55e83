import { dns1035LabelFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

interface Names {
  readonly plural: string;
  readonly singular?: string | undefined;
  readonly shortNames?: readonly string[] | undefined;
  readonly kind: string;
  readonly listKind?: string | undefined;
  readonly categories?: readonly string[] | undefined;
}

/** Checks the form of names; required names are checked elsewhere. */
export function checkNames(names: Names, report: FieldReport): void {
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
