import type { FieldReport } from "../../../schema/faults.ts";

/** Requires that counts don't exceed the counts that include them, given as pairs of smaller and greater count. */
export function checkParts(
  status: object,
  parts: readonly (readonly [part: string, whole: string])[],
  report: FieldReport,
): void {
  const counts = status as Readonly<Record<string, number | undefined>>;
  const count = (name: string) => counts[name] ?? 0;
  for (const [part, whole] of parts) {
    if (count(part) > count(whole))
      report.at(part).invalid(count(part), `cannot be greater than status.${whole}`);
  }
}

/** Rejects a decrease of the collision count. */
export function checkCollisions(
  now: { readonly collisionCount?: number | undefined },
  live: { readonly collisionCount?: number | undefined },
  report: FieldReport,
): void {
  if (live.collisionCount === undefined) return;
  if (now.collisionCount === undefined || now.collisionCount < live.collisionCount) {
    report.at("collisionCount").invalid(now.collisionCount, "cannot be decremented");
  }
}
