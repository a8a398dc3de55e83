import type { FieldReport } from "../../../schema/faults.ts";

/** Requires exactly one source. The first one is accepted, `emptyDir` before all others, and the others are reported. */
export function oneSource(volume: object, report: FieldReport): void {
  const sources = Object.keys(volume).filter((name) => name !== "name");
  const [first, ...others] = sources.toSorted((a, b) => Number(b === "emptyDir") - Number(a === "emptyDir"));
  if (first === undefined) report.required("must specify a volume type");
  for (const name of others) report.at(name).forbidden("may not specify more than 1 volume type");
}

/** Requires the name of a reference. */
export function namedObject(reference: { readonly name?: string | undefined }, report: FieldReport): void {
  if ((reference.name ?? "") === "") report.at("name").required();
}

/** Requires name and namespace of a secret reference. */
export function placedSecret(
  reference: { readonly name?: string | undefined; readonly namespace?: string | undefined },
  report: FieldReport,
): void {
  namedObject(reference, report);
  if ((reference.namespace ?? "") === "") report.at("namespace").required();
}
