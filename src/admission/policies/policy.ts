import type { ValidatingAdmissionPolicyBinding } from "../../kinds/admissionregistration/validating-admission-policy-binding.ts";
import type { ValidatingAdmissionPolicy } from "../../kinds/admissionregistration/validating-admission-policy.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Compiled } from "../../cel/compile.ts";
import type { PolicyPrograms } from "./environment.ts";
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

/** One expression of a policy. */
export class Validation {
  private cached: Compiled | undefined;

  constructor(
    readonly expression: string,
    readonly message: string,
    readonly reason: string | undefined,
    private readonly compile: () => Compiled,
  ) {}

  /** Compiled at the first use. */
  get compiled(): Compiled {
    return (this.cached ??= this.compile());
  }
}

/** A policy, compiled for evaluation. */
export interface Policy {
  readonly name: string;
  /** Whether the policy is ignored if it can't be evaluated (failure policy `Ignore`). */
  readonly ignoresFailures: boolean;
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined;
  readonly constraints: Constraints;
  readonly validations: readonly Validation[];
}

/** A binding, compiled for evaluation. */
export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: { readonly name: string; readonly namespace: string } | undefined;
  /** Undefined if the binding applies to all requests of the policy. */
  readonly constraints: Constraints | undefined;
}

type MatchResources = NonNullable<NonNullable<ValidatingAdmissionPolicy["spec"]>["matchConstraints"]>;

export function policyOf(object: ApiObject, programs: PolicyPrograms): Policy {
  const { metadata, spec } = object as unknown as ValidatingAdmissionPolicy;
  const { paramKind } = spec ?? {};
  return {
    name: metadata.name ?? "",
    ignoresFailures: spec?.failurePolicy === "Ignore",
    paramKind: paramKind && { apiVersion: paramKind.apiVersion ?? "", kind: paramKind.kind ?? "" },
    constraints: constraintsOf(spec?.matchConstraints ?? {}),
    validations: (spec?.validations ?? []).map(({ expression, message = "", reason }) => {
      const compile = () => programs.get(expression, paramKind !== undefined);
      return new Validation(expression, message.trim(), reason === "" ? undefined : reason, compile);
    }),
  };
}

export function bindingOf(object: ApiObject): Binding {
  const { metadata, spec } = object as unknown as ValidatingAdmissionPolicyBinding;
  const { paramRef, matchResources } = spec ?? {};
  return {
    name: metadata.name ?? "",
    policyName: spec?.policyName ?? "",
    paramRef: paramRef && { name: paramRef.name ?? "", namespace: paramRef.namespace ?? "" },
    constraints: matchResources && constraintsOf(matchResources),
  };
}

function constraintsOf(matchResources: MatchResources): Constraints {
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
