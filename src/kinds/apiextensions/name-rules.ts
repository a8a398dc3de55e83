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
export function checkNames(names: Names, place: FieldReport): void {
  label(names.plural, place.at("plural"));
  if (names.singular !== undefined) label(names.singular, place.at("singular"));
  mixedCaseLabel(names.kind, place.at("kind"));
  if (names.listKind !== undefined) mixedCaseLabel(names.listKind, place.at("listKind"));
  if (names.kind !== "" && names.kind === names.listKind) {
    place.at("listKind").invalid(names.listKind, "kind and listKind may not be the same");
  }
  for (const member of ["shortNames", "categories"] as const) {
    for (const [index, name] of (names[member] ?? []).entries()) {
      if (place.full) return;
      for (const message of dns1035LabelFaults(name)) place.at(member, index).invalid(name, message);
    }
  }
}

function label(name: string, place: FieldReport): void {
  if (name === "") return;
  for (const message of dns1035LabelFaults(name)) place.invalid(name, message);
}

function mixedCaseLabel(name: string, place: FieldReport): void {
  if (name === "") return;
  for (const message of dns1035LabelFaults(name.toLowerCase())) {
    place.invalid(name, `may have mixed case, but should otherwise match: ${message}`);
  }
}
