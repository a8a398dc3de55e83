import { qualityOfService } from "../../../kinds/core/pod/quality-of-service.ts";
import type { Pod } from "../../../kinds/core/pod/pod.ts";
import type { PodSpecValue } from "../../pod-spec.ts";

/** One condition on the scope of an object, as quotas and configurations write it. */
export interface ScopeCondition {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/** What scopes look at. Only pods have scopes; every other object is in none. */
export interface PodTraits {
  readonly terminating: boolean;
  readonly bestEffort: boolean;
  readonly crossNamespaceAffinity: boolean;
  readonly priorityClass: string;
}

/** What the scopes look at in a pod. */
export function podTraits({ spec, status }: Pod): PodTraits {
  return {
    terminating: Number(spec?.activeDeadlineSeconds ?? -1) >= 0,
    bestEffort: (status?.qosClass ?? qualityOfService(spec)) === "BestEffort",
    crossNamespaceAffinity: spec?.affinity !== undefined && looksAcrossNamespaces(spec.affinity),
    priorityClass: spec?.priorityClassName ?? "",
  };
}

function looksAcrossNamespaces(affinity: NonNullable<PodSpecValue["affinity"]>): boolean {
  return [affinity.podAffinity, affinity.podAntiAffinity].some((one) => {
    const terms = [
      ...(one?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(one?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        ({ podAffinityTerm }) => podAffinityTerm,
      ),
    ];
    return terms.some((term) => (term?.namespaces?.length ?? 0) > 0 || term?.namespaceSelector !== undefined);
  });
}

/** Whether an object is in a scope. */
export type ScopeMatcher = (traits: PodTraits | undefined) => boolean;

/** Makes a condition ready to be asked often. An unknown scope holds nothing. */
export function compileScope(condition: ScopeCondition): ScopeMatcher {
  const matches = ofPods(condition);
  return (traits) => traits !== undefined && matches(traits);
}

/** A condition on all of several scopes; without any it holds for every object. */
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

/** Conditions as the reference writes them in messages: `[{PriorityClass In [low high]}]`. */
export function scopesText(conditions: readonly ScopeCondition[]): string {
  const texts = conditions.map(
    ({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(" ")}]}`,
  );
  return `[${texts.join(" ")}]`;
}
