import { isDeepStrictEqual } from "node:util";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { missingRules } from "./coverage.ts";
import type { BindingManifest, PolicyMetadata, RoleManifest } from "./default-roles/default-policy.ts";
import type { Subject } from "./policy.ts";

/** The write that a default role or binding needs. */
export type Reconciliation<T> =
  | { readonly action: "create" | "update"; readonly object: T }
  /** The roleRef of a binding is immutable: the existing binding is deleted and `object` created. */
  | { readonly action: "recreate"; readonly object: T };

/**
 * Returns the write that a default ClusterRole or Role needs. It only adds: rules that the existing rules don't cover, labels,
 * annotations, aggregation selectors. Undefined if nothing is missing, or if the auto-update annotation of the existing role is
 * "false".
 */
export function reconcileClusterRole<Live extends RoleManifest>(
  expected: RoleManifest,
  existing: Live | undefined,
  vocabulary: Vocabulary,
): Reconciliation<RoleManifest | Live> | undefined {
  if (existing === undefined) return { action: "create", object: expected };
  if (isProtected(existing.metadata, vocabulary)) return undefined;
  const rules = uncoveredRules(expected, existing);
  const selectors = missingItems(
    expected.aggregationRule?.clusterRoleSelectors ?? [],
    existing.aggregationRule?.clusterRoleSelectors ?? [],
  );
  const metadata = withMissingMetadata(expected.metadata, existing.metadata);
  if (rules.length === 0 && selectors.length === 0 && metadata === existing.metadata) return undefined;
  const object: Live = { ...existing, metadata };
  const completed = {
    ...object,
    ...(rules.length === 0 ? {} : { rules: [...(existing.rules ?? []), ...rules] }),
    ...(selectors.length === 0 ? {} : { aggregationRule: withSelectors(existing, selectors) }),
  };
  return { action: "update", object: completed };
}

/**
 * Returns the write that a default ClusterRoleBinding or RoleBinding needs, as {@link reconcileClusterRole}. It adds missing
 * subjects, labels and annotations. A binding with another roleRef is recreated.
 */
export function reconcileBinding<Live extends BindingManifest>(
  expected: BindingManifest,
  existing: Live | undefined,
  vocabulary: Vocabulary,
): Reconciliation<BindingManifest | Live> | undefined {
  if (existing === undefined) return { action: "create", object: expected };
  if (isProtected(existing.metadata, vocabulary)) return undefined;
  const { kind, name } = existing.roleRef;
  if (kind !== expected.roleRef.kind || name !== expected.roleRef.name)
    return { action: "recreate", object: expected };
  const live = existing.subjects ?? [];
  const subjects = (expected.subjects ?? []).filter(
    (expectedItem) => !live.some((one) => sameSubject(one, expectedItem)),
  );
  const metadata = withMissingMetadata(expected.metadata, existing.metadata);
  if (subjects.length === 0 && metadata === existing.metadata) return undefined;
  const object: Live = { ...existing, metadata };
  return {
    action: "update",
    object: subjects.length === 0 ? object : { ...object, subjects: [...live, ...subjects] },
  };
}

/**
 * Returns the write that creates a default binding whose permissions another binding granted in earlier releases: the new one has
 * the subjects, labels and annotations of the other one, so that an administrator's changes of it stay in effect.
 */
export function createSplitBinding(
  expected: BindingManifest,
  source: BindingManifest,
  vocabulary: Vocabulary,
): Reconciliation<BindingManifest> {
  const { labels, annotations } = source.metadata;
  const metadata = { ...expected.metadata, labels, annotations };
  const copy = { ...expected, metadata, subjects: source.subjects };
  return { action: "create", object: reconcileBinding(expected, copy, vocabulary)?.object ?? copy };
}

function isProtected(metadata: PolicyMetadata, vocabulary: Vocabulary): boolean {
  return metadata.annotations?.[vocabulary.autoUpdateAnnotation] === "false";
}

/** Returns the expected rules that the existing ones don't cover completely. */
function uncoveredRules(expected: RoleManifest, existing: RoleManifest): NonNullable<RoleManifest["rules"]> {
  const live = existing.rules ?? [];
  return (expected.rules ?? []).filter((rule) => missingRules(live, [rule]).length > 0);
}

function withSelectors(
  existing: RoleManifest,
  selectors: readonly object[],
): RoleManifest["aggregationRule"] {
  const live = existing.aggregationRule ?? {};
  return { ...live, clusterRoleSelectors: [...(live.clusterRoleSelectors ?? []), ...selectors] };
}

/** Adds missing labels and annotations. Returns the same object if none is missing; doesn't change existing values. */
function withMissingMetadata<M extends PolicyMetadata>(expected: PolicyMetadata, existing: M): M {
  const lacksLabels = lacksKeys(expected.labels, existing.labels);
  const lacksAnnotations = lacksKeys(expected.annotations, existing.annotations);
  if (!lacksLabels && !lacksAnnotations) return existing;
  return {
    ...existing,
    labels: { ...expected.labels, ...existing.labels },
    annotations: { ...expected.annotations, ...existing.annotations },
  };
}

function lacksKeys(
  expected: Readonly<Record<string, string>> | undefined,
  existing: Readonly<Record<string, string>> | undefined,
): boolean {
  return Object.keys(expected ?? {}).some((key) => existing?.[key] === undefined);
}

function missingItems<T>(expected: readonly T[], existing: readonly T[]): T[] {
  return expected.filter((expectedItem) => !existing.some((one) => isDeepStrictEqual(one, expectedItem)));
}

function sameSubject(one: Subject, other: Subject): boolean {
  return (
    one.kind === other.kind && one.name === other.name && (one.namespace ?? "") === (other.namespace ?? "")
  );
}
