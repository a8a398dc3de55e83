import { deepEqual, type JsonValue } from "../base/json/value.ts";
import type { ObjectMetaValue } from "../schema/kind.ts";
import type { WriteResult } from "./engine.ts";

/**
 * Leaves out owners that stand in an object's metadata more than once, as the reference does. Changes `meta`.
 *
 * @param when how they came there, as the warning says it: by the request, or by admission.
 * @returns what the writer should know of it; nothing where no owner was repeated.
 */
export function dropRepeatedOwners(
  meta: ObjectMetaValue,
  when: "" | " after mutating admission happens" = "",
): readonly string[] {
  const { ownerReferences } = meta;
  if (ownerReferences === undefined || ownerReferences.length < 2) return noWarnings;
  const kept: typeof ownerReferences = [];
  const repeated: string[] = [];
  const byUid = new Map<string, typeof ownerReferences>();
  for (const owner of ownerReferences) {
    const same = byUid.get(owner.uid) ?? [];
    if (same.some((one) => deepEqual(one as unknown as JsonValue, owner as unknown as JsonValue))) {
      repeated.push(owner.uid);
      continue;
    }
    byUid.set(owner.uid, [...same, owner]);
    kept.push(owner);
  }
  if (repeated.length === 0) return noWarnings;
  meta.ownerReferences = kept;
  const uids = `duplicate UID(s) observed: ${repeated.join(", ")}`;
  return [
    `.metadata.ownerReferences contains duplicate entries${when}; the server keeps one of each; ${uids}`,
  ];
}

const noWarnings: readonly string[] = [];

/** A write's result with more warnings before its own. */
export function withWarnings(result: WriteResult, warnings: readonly string[]): WriteResult {
  return warnings.length === 0 ? result : { ...result, warnings: [...warnings, ...result.warnings] };
}
