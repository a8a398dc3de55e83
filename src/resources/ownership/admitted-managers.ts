import { areValidEntries } from "../../fields/apply/managed-fields.ts";
import type { ApiObject } from "../../schema/kind.ts";

type Entries = ApiObject["metadata"]["managedFields"];

/**
 * Returns a warning if mutating admission has made the managed fields invalid. They have no effect: ownership was recorded before.
 *
 * @param before the managed fields before admission.
 */
export function invalidManagersWarning(before: Entries, { metadata }: ApiObject): readonly string[] {
  const { managedFields: after } = metadata;
  if (after === undefined || after === before || areValidEntries(after)) return [];
  // Entries that the client sent are not the fault of admission.
  if (before !== undefined && JSON.stringify(after) === JSON.stringify(before)) return [];
  return [
    "metadata.managedFields is invalid after mutating admission and was ignored: correct the webhook or policy that changes it",
  ];
}
