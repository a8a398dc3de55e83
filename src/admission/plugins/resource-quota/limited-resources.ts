import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import { forbidden } from "../../forbidden.ts";
import type { LimitedResource } from "./configuration.ts";
import type { Measured } from "./evaluator.ts";
import { compileScope, scopesText, type ScopeCondition } from "./scopes.ts";

/** The usage of a request, and what the quotas of its namespace cover. */
export interface Coverage extends Measured {
  /** Names that the matching quotas limit. */
  readonly covered: readonly string[];
  /** The scopes of all quotas of the namespace. */
  readonly coveredScopes: readonly ScopeCondition[];
}

/**
 * Rejects the use of a limited resource that no quota covers.
 *
 * @throws {StatusError} Forbidden.
 */
export function rejectUncovered(
  limited: readonly LimitedResource[],
  { target }: AdmissionRequest,
  { usage, traits, covered, coveredScopes }: Coverage,
): void {
  const { group, name: resource } = target.resource;
  const parts = limited
    .filter((entry) => entry.group === group && entry.resource === resource)
    .flatMap(({ matchContains }) => matchContains);
  const uncovered = [...usage]
    .filter(([name, { nanos }]) => nanos > 0n && parts.some((part) => name.includes(part)))
    .map(([name]) => name)
    .filter((name) => !covered.includes(name));
  if (uncovered.length > 0) {
    throw forbidden(target, `insufficient quota to consume: ${uncovered.toSorted().join(",")}`);
  }
  const isIn = (condition: ScopeCondition): boolean => compileScope(condition)(traits);
  const names = new Set(coveredScopes.filter(isIn).map(({ scopeName }) => scopeName));
  const without = limited
    .flatMap(({ matchScopes }) => matchScopes)
    .filter((condition) => isIn(condition) && !names.has(condition.scopeName));
  if (without.length > 0) {
    throw forbidden(target, `insufficient quota to match these scopes: ${scopesText(without)}`);
  }
}
