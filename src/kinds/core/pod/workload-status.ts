import type { FieldReport } from "../../../schema/faults.ts";

/** The counts of a status don't exceed what they are part of: pairs of a smaller and a greater count. */
export function checkParts(
  status: object,
  parts: readonly (readonly [part: string, whole: string])[],
  place: FieldReport,
): void {
  const counts = status as Readonly<Record<string, number | undefined>>;
  const count = (name: string) => counts[name] ?? 0;
  for (const [part, whole] of parts) {
    if (count(part) > count(whole))
      place.at(part).invalid(count(part), `cannot be greater than status.${whole}`);
  }
}

/** A count of collisions only grows. */
export function checkCollisions(
  now: { readonly collisionCount?: number | undefined },
  live: { readonly collisionCount?: number | undefined },
  place: FieldReport,
): void {
  if (live.collisionCount === undefined) return;
  if (now.collisionCount === undefined || now.collisionCount < live.collisionCount) {
    place.at("collisionCount").invalid(now.collisionCount, "cannot be decremented");
  }
}
