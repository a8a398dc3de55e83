import type { FieldReport } from "../../../schema/faults.ts";

/** A volume comes from exactly one place; the first one counts, `emptyDir` before all others, and the others are too many. */
export function oneSource(volume: object, place: FieldReport): void {
  const given = Object.keys(volume).filter((name) => name !== "name");
  const [first, ...others] = given.toSorted((a, b) => Number(b === "emptyDir") - Number(a === "emptyDir"));
  if (first === undefined) place.required("must specify a volume type");
  for (const name of others) place.at(name).forbidden("may not specify more than 1 volume type");
}

/** A reference names its object. */
export function namedObject(reference: { readonly name?: string | undefined }, place: FieldReport): void {
  if ((reference.name ?? "") === "") place.at("name").required();
}

/** A reference to a secret of any namespace names both. */
export function placedSecret(
  reference: { readonly name?: string | undefined; readonly namespace?: string | undefined },
  place: FieldReport,
): void {
  namedObject(reference, place);
  if ((reference.namespace ?? "") === "") place.at("namespace").required();
}
