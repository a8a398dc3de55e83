import { qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

const maxParameters = 512;
const maxParameterBytes = 256 * 1024;

/** Requires the name of a provisioner; capitals are allowed. */
export function provisionerName(name: string, place: FieldReport): void {
  for (const message of qualifiedNameFaults(name.toLowerCase())) place.invalid(name, message);
}

/** Limits number and size of parameters. */
export function checkParameters(parameters: Readonly<Record<string, string>>, place: FieldReport): void {
  const entries = Object.entries(parameters);
  if (entries.length > maxParameters) return place.tooLong(maxParameters, "items");
  checkSizes(entries, place);
}

/** Limits the total size of keys and values, and rejects empty keys. */
export function checkSizes(entries: readonly (readonly [string, string])[], place: FieldReport): void {
  let bytes = 0;
  for (const [name, text] of entries) {
    if (name === "") place.invalid(name, "field can not be empty.");
    bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
  }
  if (bytes > maxParameterBytes) place.tooLong(maxParameterBytes);
}

interface Term {
  readonly matchLabelExpressions?:
    readonly { readonly key: string; readonly values: readonly string[] | null }[] | undefined;
}

/** Requires unique topologies. */
export function checkTopologies(terms: readonly Term[], place: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, term] of terms.entries()) {
    if (place.full) return;
    const here = place.at(index, "matchLabelExpressions");
    const meaning = checkTerm(term, here);
    // As in the reference, an empty term counts as a duplicate.
    if (seen.has(meaning) || (term.matchLabelExpressions ?? []).length === 0) here.duplicate("");
    seen.add(meaning);
  }
}

/** Checks a term. Returns a text that is equal for equivalent terms. */
function checkTerm({ matchLabelExpressions = [] }: Term, place: FieldReport): string {
  const valuesOf = new Map<string, readonly string[]>();
  for (const [index, { key, values }] of matchLabelExpressions.entries()) {
    if (place.full) break;
    const here = place.at(index);
    const distinct = new Set<string>();
    if ((values ?? []).length === 0) here.at("values").required();
    for (const [at, value] of (values ?? []).entries()) {
      if (distinct.has(value)) here.at("values", at).duplicate(value);
      distinct.add(value);
    }
    for (const message of qualifiedNameFaults(key)) here.at("key").invalid(key, message);
    if (valuesOf.has(key)) here.at("key").duplicate(key);
    valuesOf.set(key, [...distinct].toSorted());
  }
  return JSON.stringify([...valuesOf].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
