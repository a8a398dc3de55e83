import type { Group, GroupVersion } from "../schema/types.ts";

/** Releases in which a kind was introduced, deprecated and removed in one version, such as `1.26` (spec: conventions 9). */
export interface LifeCycle {
  readonly group: Group;
  readonly version: string;
  readonly kind: string;
  readonly introduced: string;
  readonly deprecated?: string;
  readonly removed?: string;
  /** The group version that replaces it. */
  readonly replacement?: GroupVersion;
  /** Name of the kind that replaces it, if it differs. */
  readonly replacementKind?: string;
}

type Releases = Omit<LifeCycle, "group" | "version" | "kind">;

/** Declares the life cycle of several kinds of a group version. */
export function kinds(
  group: Group,
  version: string,
  releases: Releases,
  names: readonly string[],
): LifeCycle[] {
  return names.map((kind) => ({ group, version, kind, ...releases }));
}

/** Returns a group version. */
export function at(group: Group, version: string): GroupVersion {
  return { group, version };
}
