import type { ObjectMetaValue } from "../../schema/kind.ts";
import type { OwnerReferenceValue } from "../../schema/api-object.ts";
import type { WriteResult } from "../engine/engine.ts";

/** How many uids the warning lists; a header line has to stay short. */
const listedUids = 20;

/**
 * Removes owner references that equal an earlier one of the same object, as the reference does. Changes `meta`. Linear in the
 * number of references.
 *
 * @param when the phase that added the duplicates, as the warning names it: the request itself, or mutating admission.
 * @returns the warnings for the client; empty where no reference was repeated.
 */
export function dropRepeatedOwners(
  meta: ObjectMetaValue,
  when: "" | " after mutating admission happens" = "",
): readonly string[] {
  const { ownerReferences } = meta;
  if (ownerReferences === undefined || ownerReferences.length < 2) return noWarnings;
  const distinct = new Map<string, OwnerReferenceValue>();
  const repeated: string[] = [];
  for (const owner of ownerReferences) {
    const identity = identityOf(owner);
    if (distinct.has(identity)) repeated.push(owner.uid);
    else distinct.set(identity, owner);
  }
  if (repeated.length === 0) return noWarnings;
  meta.ownerReferences = [...distinct.values()];
  const rest = repeated.length - listedUids;
  const uids = repeated.slice(0, listedUids).join(", ") + (rest > 0 ? `, and ${rest} more` : "");
  return [
    `.metadata.ownerReferences contains duplicate entries${when}; the server keeps one of each; duplicate UID(s) observed: ${uids}`,
  ];
}

const noWarnings: readonly string[] = [];

/** Equal for two references with equal members. */
function identityOf({
  apiVersion,
  kind,
  name,
  uid,
  controller,
  blockOwnerDeletion,
}: OwnerReferenceValue): string {
  return JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
}

/** A write's result with more warnings before its own. */
export function withWarnings(result: WriteResult, warnings: readonly string[]): WriteResult {
  return warnings.length === 0 ? result : { ...result, warnings: [...warnings, ...result.warnings] };
}
