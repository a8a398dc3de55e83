import { isDeepStrictEqual } from "node:util";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { missingRules } from "./coverage.ts";
import type { BindingManifest, PolicyMetadata, RoleManifest } from "./default-roles/default-policy.ts";
import type { Subject } from "./policy.ts";

/** What is to be done with a default role or binding. */
export type Reconciliation<T> =
  | { readonly action: "create" | "update"; readonly object: T }
  /** A binding's roleRef can't be changed: the live one is deleted, then this one created. */
  | { readonly action: "recreate"; readonly object: T };

/**
 * What has to be written so that a default role gives at least what it should. Only ever adds: rules that the live
 * role's rules don't cover, labels, annotations, aggregation selectors. Nothing is done (undefined) when nothing is
 * missing, or when the live role's auto-update annotation is "false". Serves ClusterRoles and Roles.
 */
export function reconcileClusterRole<Live extends RoleManifest>(
  expected: RoleManifest,
  existing: Live | undefined,
  vocabulary: Vocabulary,
): Reconciliation<RoleManifest | Live> | undefined {
  if (existing === undefined) return { action: "create", object: expected };
  if (isProtected(existing.metadata, vocabulary)) return undefined;
  const rules = uncovered(expected, existing);
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
 * As {@link reconcileClusterRole} for a default binding: adds subjects, labels and annotations that are missing. A
 * binding that has come to refer to another role is made anew as expected. Serves ClusterRoleBindings and RoleBindings.
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
    (wanted) => !live.some((one) => sameSubject(one, wanted)),
  );
  const metadata = withMissingMetadata(expected.metadata, existing.metadata);
  if (subjects.length === 0 && metadata === existing.metadata) return undefined;
  const object: Live = { ...existing, metadata };
  return {
    action: "update",
    object: subjects.length === 0 ? object : { ...object, subjects: [...live, ...subjects] },
  };
}

function isProtected(metadata: PolicyMetadata, vocabulary: Vocabulary): boolean {
  return metadata.annotations?.[vocabulary.autoUpdateAnnotation] === "false";
}

/** The expected rules that the live ones don't cover, whole, so that the role stays readable. */
function uncovered(expected: RoleManifest, existing: RoleManifest): NonNullable<RoleManifest["rules"]> {
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

/** The live metadata, the same object when it lacks nothing. Values that somebody changed are left as they are. */
function withMissingMetadata<M extends PolicyMetadata>(expected: PolicyMetadata, existing: M): M {
  const lacksLabels = lacks(expected.labels, existing.labels);
  const lacksAnnotations = lacks(expected.annotations, existing.annotations);
  if (!lacksLabels && !lacksAnnotations) return existing;
  return {
    ...existing,
    labels: { ...expected.labels, ...existing.labels },
    annotations: { ...expected.annotations, ...existing.annotations },
  };
}

function lacks(
  expected: Readonly<Record<string, string>> | undefined,
  existing: Readonly<Record<string, string>> | undefined,
): boolean {
  return Object.keys(expected ?? {}).some((key) => existing?.[key] === undefined);
}

function missingItems<T>(expected: readonly T[], existing: readonly T[]): T[] {
  return expected.filter((wanted) => !existing.some((one) => isDeepStrictEqual(one, wanted)));
}

function sameSubject(one: Subject, other: Subject): boolean {
  return (
    one.kind === other.kind && one.name === other.name && (one.namespace ?? "") === (other.namespace ?? "")
  );
}
