import { objectAs } from "../../schema/api-object.ts";
import { configurationType, patchListType } from "../../cel/types/patch-types.ts";
import type { MutatingAdmissionPolicy } from "../../kinds/admissionregistration/mutating-admission-policy.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { DeclaredVariables } from "./declared-variables.ts";
import type { PolicyPrograms } from "./environment.ts";
import { PolicyExpression } from "./policy-expression.ts";
import { constraintsOf, paramKindOf, usesVariable, type PolicyBase } from "./policy.ts";

/** A change of the object. */
export interface Mutation {
  readonly type: "ApplyConfiguration" | "JSONPatch";
  readonly expression: PolicyExpression;
}

/** A mutating policy. */
export interface MutatingPolicy extends PolicyBase {
  readonly mutations: readonly Mutation[];
  /** Whether the policy is evaluated again after later changes (reinvocation policy `IfNeeded`). */
  readonly reinvoked: boolean;
}

/** Reads a mutating policy; its expressions are compiled at their first use. */
export function mutatingPolicyOf(object: ApiObject, programs: PolicyPrograms): MutatingPolicy {
  const { metadata, spec } = objectAs<MutatingAdmissionPolicy>(object);
  const { paramKind, matchConditions: conditions = [] } = spec ?? {};
  const base = programs.variables(paramKind !== undefined);
  const declared = new DeclaredVariables(spec?.variables ?? [], base, programs);
  const mutations = (spec?.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }): Mutation => {
    const type = patchType as Mutation["type"];
    const [part, result] =
      type === "JSONPatch" ? [jsonPatch, patchListType] : [applyConfiguration, configurationType];
    const text = part?.expression ?? "";
    const compiled = () => programs.get(text, { ...declared.scope, patches: true }, result);
    return { type, expression: new PolicyExpression(text, compiled) };
  });
  const matchConditions = programs.conditions(conditions, paramKind !== undefined);
  let usesNamespace: boolean | undefined;
  return {
    name: metadata.name ?? "",
    ignoresFailures: spec?.failurePolicy === "Ignore",
    paramKind: paramKindOf(paramKind),
    constraints: constraintsOf(spec?.matchConstraints ?? {}),
    base,
    matchConditions,
    variables: declared.expressions,
    mutations,
    reinvoked: spec?.reinvocationPolicy === "IfNeeded",
    get usesNamespace() {
      const all = [...matchConditions, ...declared.expressions, ...mutations];
      return (usesNamespace ??= usesVariable(
        all.map(({ expression }) => expression),
        "namespaceObject",
      ));
    },
  };
}
