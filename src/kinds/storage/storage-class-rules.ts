import { qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

const maxParameters = 512;
const maxParameterBytes = 256 * 1024;

/** Requires the name of a provisioner; capitals are allowed. */
export function provisionerName(name: string, report: FieldReport): void {
  for (const message of qualifiedNameFaults(name.toLowerCase())) report.invalid(name, message);
}

/** Limits number and size of parameters. */
export function checkParameters(parameters: Readonly<Record<string, string>>, report: FieldReport): void {
  const entries = Object.entries(parameters);
  if (entries.length > maxParameters) return report.tooLong(maxParameters, "items");
  checkSizes(entries, report);
}

/** Limits the total size of keys and values, and rejects empty keys. */
export function checkSizes(entries: readonly (readonly [string, string])[], report: FieldReport): void {
  let bytes = 0;
  for (const [name, text] of entries) {
    if (name === "") report.invalid(name, "field can not be empty.");
    bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
  }
  if (bytes > maxParameterBytes) report.tooLong(maxParameterBytes);
}

interface Term {
  readonly matchLabelExpressions?:
    readonly { readonly key: string; readonly values: readonly string[] | null }[] | undefined;
}

/** Requires unique topologies. */
export function checkTopologies(terms: readonly Term[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, term] of terms.entries()) {
    if (report.full) return;
    const here = report.at(index, "matchLabelExpressions");
    const meaning = checkTerm(term, here);
    // As in the reference, an empty term counts as a duplicate.
    if (seen.has(meaning) || (term.matchLabelExpressions ?? []).length === 0) here.duplicate("");
    seen.add(meaning);
  }
}

/** Checks a term. Returns a text that is equal for equivalent terms. */
function checkTerm({ matchLabelExpressions = [] }: Term, report: FieldReport): string {
  const valuesOf = new Map<string, readonly string[]>();
  for (const [index, { key, values }] of matchLabelExpressions.entries()) {
    if (report.full) break;
    const here = report.at(index);
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
