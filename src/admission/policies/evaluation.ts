import type { JsonValue } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { bind, type Bindings, type Evaluated } from "../../cel/compile.ts";
import { formatFaults } from "../../cel/fault-text.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import { decodeEntry } from "../../resources/objects/stored.ts";
import { keyOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Store } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { FollowedObjects, NamespaceFacts } from "../followed-objects.ts";
import { selects } from "../matching/selectors.ts";
import { authorizerVariables } from "./authorizer-variables.ts";
import { ReviewObjects } from "../webhooks/review-objects.ts";
import {
  namespaceEnvironment,
  objectEnvironment,
  paramsEnvironment,
  requestVariable,
} from "./environment.ts";
import { CostBudget, EvaluationVariables } from "./evaluation-variables.ts";
import { PolicyFailure } from "./failure.ts";
import type { CheckOutcome, PolicyObserver } from "./policy-observer.ts";
import { ParamReader } from "./params.ts";
import type { Candidate } from "./policy-set.ts";
import { createYielder } from "../../base/yielding.ts";
import { checkConditions } from "./match-conditions.ts";
import { messageOf } from "./messages.ts";
import type { PolicyExpression } from "./policy-expression.ts";
import { PolicyResults, type Finding } from "./policy-results.ts";
import type { Binding, Policy, Validation } from "./policy.ts";

/** Cost budget of all policies for one request, in the units of the reference. */
const requestBudget = 10_000_000;

/** Message expressions see no authorizer. */
const noAuthorizer: Bindings = { authorizer: null, "authorizer.requestResource": null };

/** Dependencies of the evaluation of policies. */
export interface PolicyServices {
  readonly store: Store;
  readonly registry: Registry;
  readonly vocabulary: Vocabulary;
  readonly namespaces: FollowedObjects<NamespaceFacts>;
  readonly contextOf: (request: AdmissionRequest) => KindContext;
  readonly observer: PolicyObserver;
  readonly authorizer: Authorizer;
}

/** Evaluates the matching policies for one request, one after the other. */
export class PolicyEvaluation {
  private readonly params: ParamReader;
  private readonly objects: ReviewObjects;
  /** Variables without the parameters, by the version in which policies match. */
  private readonly variables = new Map<Resource, Bindings>();
  private readonly budget = new CostBudget(requestBudget);
  private readonly results: PolicyResults;
  private readonly yieldIfDue = createYielder();
  private namespace: Promise<Bindings> | undefined;

  constructor(
    private readonly services: PolicyServices,
    private readonly request: AdmissionRequest,
  ) {
    const { store, registry, vocabulary, contextOf } = services;
    const context = contextOf(request);
    this.params = new ParamReader(store, registry, context);
    this.objects = new ReviewObjects(request, vocabulary, context);
    this.results = new PolicyResults(request, vocabulary);
  }

  /** @throws {StatusError} a policy denies the request; the first of them. */
  async evaluate(candidates: readonly Candidate[]): Promise<void> {
    for (const candidate of candidates) {
      const { policy } = candidate;
      const isSelected = await this.attempt(policy, undefined, () =>
        selects(policy.constraints.selectors, this.request, this.services.namespaces),
      );
      if (isSelected !== true) continue;
      const isReady = await this.attempt(policy, undefined, () => (this.params.assertKind(policy), true));
      if (isReady !== true) continue;
      for (const binding of candidate.bindings) await this.evaluateBinding(candidate, binding);
    }
    this.results.end();
  }

  private async evaluateBinding({ policy, resource }: Candidate, binding: Binding): Promise<void> {
    const { constraints } = binding;
    if (constraints !== undefined) {
      const isSelected = await this.attempt(policy, binding, () =>
        selects(constraints.selectors, this.request, this.services.namespaces),
      );
      if (isSelected !== true) return;
    }
    const { namespace } = this.request.target;
    const params = await this.attempt(policy, binding, () => this.params.get(policy, binding, namespace));
    for (const one of params ?? []) {
      await this.yieldIfDue();
      const base = await this.bindingsFor(policy, resource, one);
      await this.evaluateWith(policy, binding, base);
    }
  }

  private async evaluateWith(policy: Policy, binding: Binding, base: Bindings): Promise<void> {
    if (!(await this.matches(policy, binding, base))) return;
    // As in the reference, each group of expressions evaluates the variables that it needs.
    const withoutAuthorizer = { ...base, ...noAuthorizer };
    const [ofValidations, ofMessages, ofAnnotations] = [base, withoutAuthorizer, base].map(
      (values) => new EvaluationVariables(policy.variables, values, this.budget),
    ) as [EvaluationVariables, EvaluationVariables, EvaluationVariables];
    for (const [index, validation] of policy.validations.entries()) {
      const source = { policy, binding, index };
      const holds = await this.validate(source, validation, ofValidations);
      if (holds === false) {
        this.results.report(source, await messageOf(validation, ofMessages), validation.reason);
      }
      const turn = this.yieldIfDue();
      if (turn !== undefined) await turn;
    }
    for (const { name, expression } of policy.auditAnnotations) {
      await this.annotate({ policy, binding }, name, expression, ofAnnotations);
    }
  }

  /** Whether the match conditions hold. One that is false decides; otherwise the failure policy decides about errors. */
  private async matches(policy: Policy, binding: Binding, base: Bindings): Promise<boolean> {
    if (policy.matchConditions.length === 0) return true;
    const outcome = await checkConditions(policy.matchConditions, base, this.budget);
    if (outcome.error === undefined) return outcome.matches;
    this.fail({ policy, binding }, outcome.error);
    return false;
  }

  /**
   * Runs a step that may fail.
   *
   * @returns the result of the step; undefined if it failed, which denies the request if the failure policy is `Fail`.
   */
  private async attempt<T>(
    policy: Policy,
    binding: Binding | undefined,
    work: () => MaybePromise<T>,
  ): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PolicyFailure || error instanceof StatusError)) throw error;
      this.fail({ policy, binding }, error.message);
      return undefined;
    }
  }

  /** Evaluates an expression; undefined if that failed, which denies the request if the failure policy is `Fail`. */
  private async validate(
    source: Finding,
    { expression }: Validation,
    variables: EvaluationVariables,
  ): Promise<boolean | undefined> {
    const { policy, binding } = source;
    const startMs = performance.now();
    const count = (outcome: CheckOutcome): void => {
      this.services.observer.checked(policy, binding, outcome, (performance.now() - startMs) / 1000);
    };
    const failure: CheckOutcome = policy.ignoresFailures ? "failed open" : "failed";
    const result = await variables.evaluate(expression);
    if (result?.outcome === "value") {
      const holds = result.value === true;
      count(holds ? "held" : "denied");
      return holds;
    }
    count(failure);
    this.fail(source, failureOf(expression, result, this.budget));
    return undefined;
  }

  /** Adds an audit annotation; null adds none. */
  private async annotate(
    source: Pick<Finding, "policy" | "binding">,
    key: string,
    expression: PolicyExpression,
    variables: EvaluationVariables,
  ): Promise<void> {
    const result = await variables.evaluate(expression);
    if (result?.outcome === "value") {
      const { value } = result;
      if (typeof value === "string") return this.results.annotate(source.policy, key, value);
      if (value === null) return;
    }
    const why =
      result === undefined
        ? `compilation error: ${formatFaults(expression.compiled.faults ?? [])}`
        : result.outcome === "value"
          ? `valueExpression '${expression.text}' must return a string or null`
          : `valueExpression '${expression.text}' resulted in error: ${result.message}`;
    this.fail(source, why);
  }

  private fail(
    source: { readonly policy: Policy; readonly binding: Binding | undefined },
    why: string,
  ): void {
    if (!source.policy.ignoresFailures) this.results.deny(source.policy, source.binding, why);
  }

  /** The values of all variables but those that the policy declares. */
  private async bindingsFor(
    policy: Policy,
    resource: Resource,
    params: ApiObject | undefined,
  ): Promise<Bindings> {
    let variables = this.variables.get(resource);
    if (variables === undefined) this.variables.set(resource, (variables = await this.bindObjects(resource)));
    const namespace = policy.usesNamespace ? await (this.namespace ??= this.bindNamespace()) : {};
    if (policy.paramKind === undefined) return { ...variables, ...namespace };
    const own = bind(paramsEnvironment, { params: (params ?? null) as JsonValue });
    return { ...variables, ...namespace, params: own["params"]! };
  }

  private async bindObjects(resource: Resource): Promise<Bindings> {
    const { request, objects, services } = this;
    const { object, oldObject } = await objects.read(resource);
    const values = bind(objectEnvironment, {
      object: (object ?? null) as JsonValue,
      oldObject: (oldObject ?? null) as JsonValue,
      request: requestVariable(request, resource, objects, services.vocabulary),
    });
    return { ...values, ...authorizerVariables(request, services.authorizer, services.vocabulary) };
  }

  /** The variable `namespaceObject`: the namespace of the request, null for cluster-scoped ones. */
  private async bindNamespace(): Promise<Bindings> {
    const { target } = this.request;
    const { store, registry } = this.services;
    const namespaceObject = async (): Promise<JsonValue> => {
      if (target.namespace === "" || !registry.serves(Namespace)) return null;
      const entry = await store.get(keyOf(registry.require(Namespace), "", target.namespace));
      if (entry === undefined) return null;
      const { metadata, spec, status } = decodeEntry(entry) as unknown as Namespace;
      const { uid, managedFields: _, ...rest } = metadata;
      return { metadata: { ...rest, UID: uid }, spec, status } as unknown as JsonValue;
    };
    return bind(namespaceEnvironment, { namespaceObject: await namespaceObject() });
  }
}

/** Returns why an expression couldn't be evaluated. */
function failureOf(
  { compiled, text }: PolicyExpression,
  result: Evaluated | undefined,
  budget: CostBudget,
): string {
  if (result === undefined) return `compilation error: ${formatFaults(compiled.faults ?? [])}`;
  if (budget.isExhausted) {
    return "validation failed due to running out of cost budget, no further validation rules will be run";
  }
  return `expression '${text}' resulted in error: ${result.outcome === "value" ? "" : result.message}`;
}
