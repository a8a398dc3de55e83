import type { Release } from "../../base/releases.ts";
import { featuresOf } from "../../server/features/features.ts";

/** Returns lines with the feature gates whose default differs between two releases, and those that the later one lacks. */
export function gateChanges(from: Release, to: Release): string[] {
  const before = featuresOf(from).gates;
  const after = featuresOf(to).gates;
  const changed = (on: boolean) =>
    Object.keys(before).filter(
      (name) => after[name] !== undefined && before[name]!.on !== on && after[name].on === on,
    );
  const lists: readonly (readonly [string, readonly string[]])[] = [
    [`feature gates that ${to} enables by default and ${from} doesn't`, changed(true)],
    [`feature gates that ${to} disables by default and ${from} doesn't`, changed(false)],
    [
      `feature gates of ${from} that ${to} doesn't have`,
      Object.keys(before).filter((name) => after[name] === undefined),
    ],
  ];
  return lists
    .filter(([, names]) => names.length > 0)
    .map(([title, names]) => `${title}: ${names.toSorted().join(", ")}`);
}
