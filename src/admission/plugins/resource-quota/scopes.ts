import { qualityOfService } from "../../../kinds/core/pod/quality-of-service.ts";
import type { Pod } from "../../../kinds/core/pod/pod.ts";
import type { PodSpecValue } from "../../pod-spec.ts";

/** A condition on the scope of an object, as in quotas and configurations. */
export interface ScopeCondition {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/** The attributes of a pod that scopes compare. Other objects have no scopes. */
export interface PodTraits {
  readonly terminating: boolean;
  readonly bestEffort: boolean;
  readonly crossNamespaceAffinity: boolean;
  readonly priorityClass: string;
}

/** Whether a pod has a deadline. */
export function isTerminating({ spec }: Pick<Pod, "spec">): boolean {
  return Number(spec?.activeDeadlineSeconds ?? -1) >= 0;
}

export function podTraits({ spec, status }: Pod): PodTraits {
  return {
    terminating: isTerminating({ spec }),
    bestEffort: (status?.qosClass ?? qualityOfService(spec)) === "BestEffort",
    crossNamespaceAffinity: spec?.affinity !== undefined && looksAcrossNamespaces(spec.affinity),
    priorityClass: spec?.priorityClassName ?? "",
  };
}

function looksAcrossNamespaces(affinity: NonNullable<PodSpecValue["affinity"]>): boolean {
  return [affinity.podAffinity, affinity.podAntiAffinity].some((rules) => {
    const terms = [
      ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        ({ podAffinityTerm }) => podAffinityTerm,
      ),
    ];
    return terms.some((term) => (term?.namespaces?.length ?? 0) > 0 || term?.namespaceSelector !== undefined);
  });
}

/** Whether an object is in a scope. */
export type ScopeMatcher = (traits: PodTraits | undefined) => boolean;

/** Compiles a condition. An unknown scope matches nothing. */
export function compileScope(condition: ScopeCondition): ScopeMatcher {
  const matches = ofPods(condition);
  return (traits) => traits !== undefined && matches(traits);
}

/** Compiles several conditions, which must all match; an empty list matches every object. */
export function compileScopes(conditions: readonly ScopeCondition[]): ScopeMatcher {
  const matchers = conditions.map(compileScope);
  return (traits) => matchers.every((matches) => matches(traits));
}

function ofPods(condition: ScopeCondition): (traits: PodTraits) => boolean {
  switch (condition.scopeName) {
    case "Terminating":
      return ({ terminating }) => terminating;
    case "NotTerminating":
      return ({ terminating }) => !terminating;
    case "BestEffort":
      return ({ bestEffort }) => bestEffort;
    case "NotBestEffort":
      return ({ bestEffort }) => !bestEffort;
    case "CrossNamespacePodAffinity":
      return ({ crossNamespaceAffinity }) => crossNamespaceAffinity;
    case "PriorityClass":
      return priorityMatcher(condition);
    default:
      return () => false;
  }
}

function priorityMatcher({ operator, values = [] }: ScopeCondition): (traits: PodTraits) => boolean {
  const named = new Set(values);
  switch (operator) {
    case "Exists":
      return ({ priorityClass }) => priorityClass !== "";
    case "DoesNotExist":
      return ({ priorityClass }) => priorityClass === "";
    case "In":
      return ({ priorityClass }) => priorityClass !== "" && named.has(priorityClass);
    case "NotIn":
      return ({ priorityClass }) => priorityClass === "" || !named.has(priorityClass);
    default:
      return () => false;
  }
}

/** Formats conditions as the reference does in messages: `[{PriorityClass In [low high]}]`. */
export function scopesText(conditions: readonly ScopeCondition[]): string {
  const texts = conditions.map(
    ({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(" ")}]}`,
  );
  return `[${texts.join(" ")}]`;
}
