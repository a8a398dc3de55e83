import { qualifiedNameFaults } from "../../base/names.ts";
import { applies, byRelease, since } from "../../base/release-rows.ts";
import { comparePriority } from "../../base/version-priority.ts";
import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { isQualifiedFinalizer } from "../../kinds/checks/finalizers.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject } from "../../schema/kind.ts";

type Spec = CustomResourceDefinition["spec"];
type Version = NonNullable<Spec["versions"]>[number];

/** Returns the version to use instead of deprecated ones; undefined if all served versions are deprecated. */
export function replacementOf({ versions = [] }: Spec): string | undefined {
  let replacement: string | undefined;
  for (const { name, served, deprecated } of versions) {
    if (!served || deprecated === true) continue;
    if (replacement === undefined || comparePriority(name, replacement) < 0) replacement = name;
  }
  return replacement;
}

/**
 * Returns the warning of requests in a version; empty if the version isn't deprecated.
 *
 * @param replacement that of {@link replacementOf}; not named if the deprecated version is preferred to it.
 */
export function deprecationOf(
  { group, names: { kind } }: Spec,
  version: Version,
  replacement: string | undefined,
): string {
  if (version.deprecated !== true) return "";
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const text = `${group}/${version.name} ${kind} is deprecated`;
  const isPreferred = replacement !== undefined && comparePriority(replacement, version.name) < 0;
  return isPreferred ? `${text}; use ${group}/${replacement} ${kind}` : text;
}

const warnsOfFinalizers = applies(since("1.29"));
const pathHintOf = byRelease("", since("1.32", " including a path (/)"));

/** Returns the warnings for finalizers that a write adds. */
export function finalizerWarnings(
  object: ApiObject,
  context: KindContext,
  live: ApiObject | undefined,
): readonly string[] {
  if (!warnsOfFinalizers(context)) return [];
  const { vocabulary } = context;
  const before = new Set(live?.metadata.finalizers);
  const added = new Set(object.metadata.finalizers?.filter((name) => !before.has(name)));
  const pathHint = pathHintOf(context);
  return [...added].toSorted().flatMap((name) => {
    const prefix = `metadata.finalizers: ${JSON.stringify(name)}: `;
    const faults = qualifiedNameFaults(name).map((fault) => prefix + fault);
    if (isQualifiedFinalizer(name, vocabulary)) return faults;
    const hint = name.includes(".") ? pathHint : "";
    const advice = `prefer a domain-qualified finalizer name${hint} to avoid accidental conflicts with other finalizer writers`;
    return [...faults, prefix + advice];
  });
}
