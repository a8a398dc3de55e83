import type { FieldReport } from "../../../schema/faults.ts";

/** Requires exactly one source. The first one is accepted, `emptyDir` before all others, and the others are reported. */
export function oneSource(volume: object, place: FieldReport): void {
  const sources = Object.keys(volume).filter((name) => name !== "name");
  const [first, ...others] = sources.toSorted((a, b) => Number(b === "emptyDir") - Number(a === "emptyDir"));
  if (first === undefined) place.required("must specify a volume type");
  for (const name of others) place.at(name).forbidden("may not specify more than 1 volume type");
}

/** Requires the name of a reference. */
export function namedObject(reference: { readonly name?: string | undefined }, place: FieldReport): void {
  if ((reference.name ?? "") === "") place.at("name").required();
}

/** Requires name and namespace of a secret reference. */
export function placedSecret(
  reference: { readonly name?: string | undefined; readonly namespace?: string | undefined },
  place: FieldReport,
): void {
  namedObject(reference, place);
  if ((reference.namespace ?? "") === "") place.at("namespace").required();
}
