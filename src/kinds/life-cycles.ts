import { isLater } from "../base/releases.ts";
import { groupName, type Kind } from "../schema/kind.ts";
import type { Group, GroupVersion } from "../schema/types.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { lifeCycles } from "./life-cycle-table.ts";
import type { LifeCycle } from "./life-cycle.ts";

/** The life cycle of a kind in a version, if it is known. */
export function lifeCycleOf(group: Group, version: string, kind: string): LifeCycle | undefined {
  return byKind.get(keyOf(group, version, kind));
}

const byKind = new Map(lifeCycles.map((one) => [keyOf(one.group, one.version, one.kind), one]));

function keyOf({ base }: Group, version: string, kind: string): string {
  return `${base}/${version} ${kind}`;
}

/** Whether a release serves, or can serve, a built-in kind in its version. Own kinds of the product are in every release. */
export function isInRelease({ group, version, name }: Kind, release: string): boolean {
  const cycle = lifeCycleOf(group, version, name);
  if (cycle === undefined) return true;
  const { introduced, removed } = cycle;
  return !isLater(introduced, release) && (removed === undefined || isLater(removed, release));
}

/** Returns the warning for requests to a deprecated version; undefined if it isn't deprecated. */
export function deprecationWarning(
  cycle: LifeCycle,
  release: string,
  vocabulary: Vocabulary,
): string | undefined {
  const { group, version, kind, deprecated, removed, replacement, replacementKind = kind } = cycle;
  if (deprecated === undefined || isLater(deprecated, release)) return undefined;
  const name = (groupVersion: GroupVersion) =>
    [groupName(groupVersion.group, vocabulary), groupVersion.version].filter((one) => one !== "").join("/");
  const gone = removed === undefined ? "" : `, unavailable in v${removed}+`;
  const instead = replacement === undefined ? "" : `; use ${name(replacement)} ${replacementKind}`;
  return `${name({ group, version })} ${kind} is deprecated in v${deprecated}+${gone}${instead}`;
}
