import type { ObjectMetaValue } from "../../schema/kind.ts";
import type { OwnerReferenceValue } from "../../schema/api-object.ts";
import type { WriteResult } from "../engine/engine.ts";

/** Maximum number of uids in the warning, which is a header line. */
const listedUids = 20;

/**
 * Removes duplicate owner references of an object, as the reference does. Changes `meta`. Takes linear time.
 *
 * @param when names in the warning the phase that added the duplicates: the request (empty), or mutating admission.
 * @returns the warnings for the client.
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

/** A text that is equal for references with equal members. */
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

/** The result of a write with further warnings before its own. */
export function withWarnings(result: WriteResult, warnings: readonly string[]): WriteResult {
  return warnings.length === 0 ? result : { ...result, warnings: [...warnings, ...result.warnings] };
}
