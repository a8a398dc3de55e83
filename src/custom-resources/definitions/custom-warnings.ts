import { qualifiedNameFaults } from "../../base/names.ts";
import { isAtLeast } from "../../base/releases.ts";
import { comparePriority } from "../../base/version-priority.ts";
import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { isQualifiedFinalizer } from "../../kinds/checks/finalizers.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject } from "../../schema/kind.ts";

type Spec = CustomResourceDefinition["spec"];
type Version = NonNullable<Spec["versions"]>[number];

/** Returns the warning of requests in a version; empty if the version isn't deprecated. */
export function deprecationOf({ group, names, versions = [] }: Spec, version: Version): string {
  if (version.deprecated !== true) return "";
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const [preferred] = versions
    .filter(({ served, deprecated }) => served && deprecated !== true)
    .filter(({ name }) => comparePriority(name, version.name) < 0)
    .toSorted((one, other) => comparePriority(one.name, other.name));
  const replacement = preferred === undefined ? "" : `; use ${group}/${preferred.name} ${names.kind}`;
  return `${group}/${version.name} ${names.kind} is deprecated${replacement}`;
}

/** Returns the warnings for finalizers that a write adds (from release 1.29 on). */
export function finalizerWarnings(
  object: ApiObject,
  { release, vocabulary }: KindContext,
  live: ApiObject | undefined,
): readonly string[] {
  if (!isAtLeast(release, "1.29")) return [];
  const before = new Set(live?.metadata.finalizers);
  const added = new Set(object.metadata.finalizers?.filter((name) => !before.has(name)));
  const hasHint = isAtLeast(release, "1.32");
  return [...added].toSorted().flatMap((name) => {
    const prefix = `metadata.finalizers: ${JSON.stringify(name)}: `;
    const faults = qualifiedNameFaults(name).map((fault) => prefix + fault);
    if (isQualifiedFinalizer(name, vocabulary)) return faults;
    const hint = hasHint && name.includes(".") ? " including a path (/)" : "";
    const advice = `prefer a domain-qualified finalizer name${hint} to avoid accidental conflicts with other finalizer writers`;
    return [...faults, prefix + advice];
  });
}
