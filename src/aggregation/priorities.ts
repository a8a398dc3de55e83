import { baseOfGroup } from "../vocabulary/names.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { comparePriority } from "../base/version-priority.ts";
import { apiregistration } from "../kinds/groups.ts";
import { groupName } from "../schema/kind.ts";

/** Priority of a group version in discovery; higher numbers sort first. */
export interface Priority {
  /** Of the group: the highest `groupPriorityMinimum` of its versions. */
  readonly group: number;
  /** Of the version inside its group. */
  readonly version: number;
}

/** A group version with its priority in discovery. */
export interface PrioritizedVersion {
  readonly group: string;
  readonly version: string;
  readonly priority: Priority;
}

/** Priority of custom resources' group versions, as in the reference. */
export const customPriority: Priority = { group: 1000, version: 100 };

/** Priority of built-in group versions without an entry in the table: after all other built-in ones. */
const unnamedPriority: Priority = { group: 15_800, version: 9 };

/** The group of APIServices comes before all others, and has no APIService itself (as in the reference). */
const registrationPriority: Priority = { group: 20_001, version: 15 };

/** The priorities of the reference's own groups, by the name without the product's suffix, and of their versions. */
const builtIn: Readonly<Record<string, readonly [number, Readonly<Record<string, number>>]>> = {
  "": [18_000, { v1: 1 }],
  apps: [17_800, { v1: 15 }],
  events: [17_750, { v1: 15, v1beta1: 5 }],
  authentication: [17_700, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  authorization: [17_600, { v1: 15 }],
  autoscaling: [17_500, { v2: 30, v1: 15 }],
  batch: [17_400, { v1: 15 }],
  certificates: [17_300, { v1: 15 }],
  networking: [17_200, { v1: 15, v1alpha1: 1 }],
  policy: [17_100, { v1: 15 }],
  "rbac.authorization": [17_000, { v1: 15 }],
  storage: [16_800, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  admissionregistration: [16_700, { v1: 15, v1alpha1: 9 }],
  apiextensions: [16_700, { v1: 15 }],
  scheduling: [16_600, { v1: 15 }],
  coordination: [16_500, { v1: 15 }],
  node: [16_300, { v1: 15 }],
  discovery: [16_200, { v1: 15 }],
  "flowcontrol.apiserver": [16_100, { v1: 21, v1beta3: 18, v1beta2: 15 }],
  "internal.apiserver": [16_000, { v1alpha1: 9 }],
  resource: [15_900, { v1alpha1: 9 }],
};

/** Priorities of new versions, by group and version, while the older version is still preferred. */
const newVersions: Readonly<Record<string, number>> = { "flowcontrol.apiserver/v1beta3": 12 };

/** Returns the priority of a built-in group version. */
export function builtInPriority(group: string, version: string, vocabulary: Vocabulary): Priority {
  if (isRegistration(group, vocabulary)) return registrationPriority;
  const base = baseOfGroup(vocabulary.groupSuffix, group);
  const priorities = Object.hasOwn(builtIn, base) ? builtIn[base] : undefined;
  if (priorities === undefined) return unnamedPriority;
  const [groupPriority, versions] = priorities;
  const key = `${base}/${version}`;
  if (!vocabulary.behavior.prefersNewVersions && Object.hasOwn(newVersions, key))
    return { group: groupPriority, version: newVersions[key]! };
  return {
    group: groupPriority,
    version: (Object.hasOwn(versions, version) ? versions[version] : undefined) ?? unnamedPriority.version,
  };
}

/** Whether the group is that of APIServices. */
export function isRegistration(group: string, vocabulary: Vocabulary): boolean {
  return group === groupName(apiregistration, vocabulary);
}

/**
 * Sorts group versions in discovery order: groups by the highest priority among their versions, then by name; versions
 * by their priority, then by version name.
 */
export function inDiscoveryOrder<T extends PrioritizedVersion>(versions: readonly T[]): T[] {
  const groups = new Map<string, number>();
  for (const { group, priority } of versions) {
    groups.set(group, Math.max(groups.get(group) ?? 0, priority.group));
  }
  return versions.toSorted((a, b) => {
    if (a.group !== b.group) {
      return groups.get(b.group)! - groups.get(a.group)! || (a.group < b.group ? -1 : 1);
    }
    return b.priority.version - a.priority.version || comparePriority(a.version, b.version);
  });
}
