import type { Revision, WriteCondition } from "./store.ts";

/**
 * Returns the index of the first condition that fails; undefined if all are met.
 *
 * @param revisionOf returns the revision of a key's current value; undefined if the key doesn't exist.
 */
export function firstFailed(
  conditions: readonly WriteCondition[] | undefined,
  revisionOf: (key: string) => Revision | undefined,
): number | undefined {
  if (conditions === undefined) return undefined;
  const failed = conditions.findIndex(({ key, revision }) => (revisionOf(key) ?? 0) !== revision);
  return failed === -1 ? undefined : failed;
}
