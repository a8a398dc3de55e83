import type { Revision, WriteCondition } from "./store.ts";

/**
 * The index of the first condition that doesn't hold; undefined where all hold.
 *
 * @param revisionOf the revision of a key's present value; undefined where the key doesn't exist.
 */
export function firstFailed(
  conditions: readonly WriteCondition[] | undefined,
  revisionOf: (key: string) => Revision | undefined,
): number | undefined {
  if (conditions === undefined) return undefined;
  const failed = conditions.findIndex(({ key, revision }) => (revisionOf(key) ?? 0) !== revision);
  return failed === -1 ? undefined : failed;
}
