import { objectAs } from "../../schema/api-object.ts";
import type { ValidatingAdmissionPolicyBinding } from "../../kinds/admissionregistration/validating-admission-policy-binding.ts";
import type { ValidatingAdmissionPolicy } from "../../kinds/admissionregistration/validating-admission-policy.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { compileLabelSelector, type LabelMatcher } from "../../base/selectors/label-selector.ts";
import { bool, string, type CelType } from "../../cel/types/types.ts";
import type { PolicyPrograms, PolicyVariables } from "./environment.ts";
import { DeclaredVariables } from "./declared-variables.ts";
import { PolicyExpression, type NamedExpression } from "./policy-expression.ts";
import { matchRules, type MatchPolicy, type MatchRule, type MatchSubject } from "../matching/rules.ts";
import { compileSelectors, type Selectors } from "../matching/selectors.ts";

/** The requests to which a policy or a binding applies. */
export interface Constraints {
  readonly selectors: Selectors;
  readonly matchPolicy: MatchPolicy;
  /** Empty matches all requests. */
  readonly rules: readonly MatchRule[];
  readonly excluded: readonly MatchRule[];
  /** Whether any rule has `resourceNames`, so that a match depends on the name of the object. */
  readonly named: boolean;
}

/** An expression that must hold, and what follows if it doesn't. */
export interface Validation {
  readonly expression: PolicyExpression;
  readonly message: string;
  /** Yields the message; undefined if it is constant. */
  readonly messageExpression: PolicyExpression | undefined;
  readonly reason: string | undefined;
}

/** The parts that validating and mutating policies have, compiled for evaluation. */
export interface PolicyBase {
  readonly name: string;
  /** Whether the policy is ignored if it can't be evaluated (failure policy `Ignore`). */
  readonly ignoresFailures: boolean;
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined;
  readonly constraints: Constraints;
  /** The policy applies only to requests for which all of them hold. */
  readonly matchConditions: readonly NamedExpression[];
  /** The variables of its expressions besides those that it declares. */
  readonly base: PolicyVariables;
  /** Whether an expression uses the variable `namespaceObject`. */
  readonly usesNamespace: boolean;
  /** The variables, by their names in expressions: `variables.<name>`; each may use the ones before it. */
  readonly variables: readonly NamedExpression[];
}

/** A validating policy. */
export interface Policy extends PolicyBase {
  readonly validations: readonly Validation[];
  /** By key. */
  readonly auditAnnotations: readonly NamedExpression[];
}

/** What a binding does with a request for which an expression doesn't hold. */
export type ValidationAction = "Deny" | "Warn" | "Audit";

/** How a binding finds the parameters. */
export interface ParamReference {
  readonly name: string;
  /** Empty for cluster-scoped objects and, in releases with selectors, for that of the request. */
  readonly namespace: string;
  /** Selects the objects, instead of the name. */
  readonly selects: LabelMatcher | undefined;
  /** Whether a request without parameters is allowed; undefined in releases in which that is an error. */
  readonly allowsMissing: boolean | undefined;
}

/** A binding, compiled for evaluation. */
export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: ParamReference | undefined;
  /** Undefined if the binding applies to all requests of the policy. */
  readonly constraints: Constraints | undefined;
  readonly actions: readonly ValidationAction[];
}

type MatchResources = NonNullable<NonNullable<ValidatingAdmissionPolicy["spec"]>["matchConstraints"]>;

/** Reads a policy; its expressions are compiled at their first use. */
export function policyOf(object: ApiObject, programs: PolicyPrograms): Policy {
  const { metadata, spec } = objectAs<ValidatingAdmissionPolicy>(object);
  const { paramKind, matchConditions = [], auditAnnotations = [] } = spec ?? {};
  const base = programs.variables(paramKind !== undefined);
  const declared = new DeclaredVariables(spec?.variables ?? [], base, programs);
  const expression = (text: string, result: CelType | undefined) =>
    new PolicyExpression(text, () => programs.get(text, declared.scope, result));
  // Messages can't depend on what the user may do.
  const messageExpression = (text: string) =>
    new PolicyExpression(text, () => programs.get(text, { ...declared.scope, authorizer: false }, string));
  const parts = {
    matchConditions: programs.conditions(matchConditions, paramKind !== undefined),
    variables: declared.expressions,
    validations: (spec?.validations ?? []).map((one) => ({
      expression: expression(one.expression, bool),
      message: (one.message ?? "").trim(),
      messageExpression:
        (one.messageExpression ?? "") === "" ? undefined : messageExpression(one.messageExpression!),
      reason: one.reason === "" ? undefined : one.reason,
    })),
    auditAnnotations: auditAnnotations.map((one) => ({
      name: one.key,
      expression: expression(one.valueExpression, undefined),
    })),
  };
  let usesNamespace: boolean | undefined;
  return {
    name: metadata.name ?? "",
    ignoresFailures: spec?.failurePolicy === "Ignore",
    paramKind: paramKindOf(paramKind),
    constraints: constraintsOf(spec?.matchConstraints ?? {}),
    base,
    ...parts,
    get usesNamespace() {
      return (usesNamespace ??= usesVariable(expressionsOf(parts), "namespaceObject"));
    },
  };
}

/** Reads the kind of the parameters of a policy. */
export function paramKindOf(
  paramKind: { readonly apiVersion?: string | undefined; readonly kind?: string | undefined } | undefined,
): PolicyBase["paramKind"] {
  return paramKind && { apiVersion: paramKind.apiVersion ?? "", kind: paramKind.kind ?? "" };
}

type Parts = Pick<Policy, "matchConditions" | "variables" | "validations" | "auditAnnotations">;

function expressionsOf({ matchConditions, variables, validations, auditAnnotations }: Parts) {
  const named = [...matchConditions, ...variables, ...auditAnnotations];
  return [
    ...named.map(({ expression }) => expression),
    ...validations.flatMap(({ expression, messageExpression }) => [expression, messageExpression]),
  ];
}

/** Whether any of these expressions uses a variable. */
export function usesVariable(expressions: readonly (PolicyExpression | undefined)[], name: string): boolean {
  return expressions.some((expression) => expression?.compiled.program?.variables.has(name) === true);
}

/** Reads a binding of a validating or of a mutating policy, which has no actions. */
export function bindingOf(object: ApiObject): Binding {
  const { metadata, spec } = objectAs<ValidatingAdmissionPolicyBinding>(object);
  const { paramRef, matchResources, validationActions } = spec ?? {};
  return {
    name: metadata.name ?? "",
    policyName: spec?.policyName ?? "",
    paramRef: paramRef && {
      name: paramRef.name ?? "",
      namespace: paramRef.namespace ?? "",
      selects: paramRef.selector && compileLabelSelector(paramRef.selector),
      allowsMissing:
        paramRef.parameterNotFoundAction === undefined
          ? undefined
          : paramRef.parameterNotFoundAction === "Allow",
    },
    constraints: matchResources && constraintsOf(matchResources),
    // Bindings of the reference release have no actions.
    actions: (validationActions ?? ["Deny"]) as ValidationAction[],
  };
}

export function constraintsOf(matchResources: MatchResources): Constraints {
  const rules = matchResources.resourceRules ?? [];
  const excluded = matchResources.excludeResourceRules ?? [];
  return {
    selectors: compileSelectors(matchResources),
    matchPolicy: matchResources.matchPolicy === "Exact" ? "Exact" : "Equivalent",
    rules,
    excluded,
    named: [...rules, ...excluded].some(({ resourceNames }) => (resourceNames ?? []).length > 0),
  };
}

/** Returns the version of the resource type in which a request matches; undefined if it doesn't match. */
export function matchConstraints(
  { rules, excluded, matchPolicy }: Constraints,
  subject: MatchSubject,
  registry: Registry,
): Resource | undefined {
  if (excluded.length > 0 && matchRules(excluded, matchPolicy, subject, registry) !== undefined)
    return undefined;
  return rules.length === 0 ? subject.resource : matchRules(rules, matchPolicy, subject, registry);
}
