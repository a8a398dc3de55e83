import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { bind, type Bindings } from "../../cel/compile.ts";
import { formatFaults } from "../../cel/fault-text.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Store } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { FollowedObjects, NamespaceFacts } from "../followed-objects.ts";
import { selects } from "../matching/selectors.ts";
import { ReviewObjects } from "../webhooks/review-objects.ts";
import { denial } from "./denial.ts";
import { environmentOf, requestVariable } from "./environment.ts";
import { PolicyFailure } from "./failure.ts";
import type { CheckOutcome, PolicyObserver } from "./policy-observer.ts";
import { ParamReader } from "./params.ts";
import type { Candidate } from "./policy-set.ts";
import { createYielder } from "../../base/yielding.ts";
import type { Binding, Policy, Validation } from "./policy.ts";

/** Cost budget of all policies for one request, in the units of the reference. */
const requestBudget = 10_000_000;

/** Dependencies of the evaluation of policies. */
export interface PolicyServices {
  readonly store: Store;
  readonly registry: Registry;
  readonly vocabulary: Vocabulary;
  readonly namespaces: FollowedObjects<NamespaceFacts>;
  readonly contextOf: (request: AdmissionRequest) => KindContext;
  readonly observer: PolicyObserver;
}

/** Evaluates the matching policies for one request; the first that denies the request ends it. */
export class PolicyEvaluation {
  private readonly params: ParamReader;
  private readonly objects: ReviewObjects;
  /** Variables without the parameters, by the version in which policies match. */
  private readonly variables = new Map<Resource, Bindings>();
  private budget = requestBudget;
  private readonly yieldIfDue = createYielder();

  constructor(
    private readonly services: PolicyServices,
    private readonly request: AdmissionRequest,
  ) {
    const { store, registry, vocabulary, contextOf } = services;
    const context = contextOf(request);
    this.params = new ParamReader(store, registry, context);
    this.objects = new ReviewObjects(request, vocabulary, context);
  }

  /** @throws {StatusError} a policy denies the request. */
  async evaluate(candidates: readonly Candidate[]): Promise<void> {
    for (const candidate of candidates) {
      const { policy } = candidate;
      const isSelected = this.attempt(policy, undefined, () => {
        return selects(policy.constraints.selectors, this.request, this.services.namespaces);
      });
      if (!(isSelected instanceof Promise ? await isSelected : isSelected)) continue;
      if (!this.attempt(policy, undefined, () => (this.params.assertKind(policy), true))) continue;
      for (const binding of candidate.bindings) await this.evaluateBinding(candidate, binding);
    }
  }

  private async evaluateBinding({ policy, resource }: Candidate, binding: Binding): Promise<void> {
    const { constraints } = binding;
    if (constraints !== undefined) {
      const selected = this.attempt(policy, binding, () => {
        return selects(constraints.selectors, this.request, this.services.namespaces);
      });
      if (!(selected instanceof Promise ? await selected : selected)) return;
    }
    let params: ApiObject | undefined;
    const read = this.attempt(policy, binding, () => {
      const object = this.params.get(policy, binding);
      if (!(object instanceof Promise)) {
        params = object;
        return true;
      }
      return object.then((value) => {
        params = value;
        return true;
      });
    });
    if (!(read instanceof Promise ? await read : read)) return;
    const variables = await this.variablesOf(policy, resource, params);
    for (const validation of policy.validations) {
      this.validate(policy, binding, validation, variables);
      const turn = this.yieldIfDue();
      if (turn !== undefined) await turn;
    }
  }

  /**
   * Runs a step that may fail.
   *
   * @returns the result of the step; false if it failed and the failure policy is `Ignore`.
   * @throws {StatusError} the step failed and the failure policy is `Fail`.
   */
  private attempt(
    policy: Policy,
    binding: Binding | undefined,
    work: () => boolean | Promise<boolean>,
  ): boolean | Promise<boolean> {
    const failed = (error: unknown): boolean => {
      if (!(error instanceof PolicyFailure || error instanceof StatusError)) throw error;
      this.fail(policy, binding, error.message);
      return false;
    };
    try {
      const done = work();
      return done instanceof Promise ? done.catch(failed) : done;
    } catch (error) {
      return failed(error);
    }
  }

  private validate(policy: Policy, binding: Binding, validation: Validation, variables: Bindings): void {
    const { expression, message, reason } = validation;
    const startMs = performance.now();
    const count = (outcome: CheckOutcome): void => {
      this.services.observer.checked(policy, binding, outcome, (performance.now() - startMs) / 1000);
    };
    const failure: CheckOutcome = policy.ignoresFailures ? "failed open" : "failed";
    const { program, faults } = validation.compiled;
    if (program === undefined) {
      count(failure);
      return this.fail(policy, binding, `compilation error: ${formatFaults(faults)}`);
    }
    const result = program.evaluate(variables, this.budget);
    this.budget -= result.cost;
    if (result.outcome !== "value") {
      count(failure);
      const why =
        this.budget <= 0
          ? "validation failed due to running out of cost budget, no further validation rules will be run"
          : `expression '${expression}' resulted in error: ${result.message}`;
      return this.fail(policy, binding, why);
    }
    count(result.value === true ? "held" : "denied");
    if (result.value === true) return;
    throw denial(
      this.request,
      policy,
      binding,
      message === "" ? `failed expression: ${expression.trim()}` : message,
      reason,
    );
  }

  private fail(policy: Policy, binding: Binding | undefined, why: string): void {
    if (!policy.ignoresFailures) throw denial(this.request, policy, binding, why);
  }

  private async variablesOf(
    policy: Policy,
    resource: Resource,
    params: ApiObject | undefined,
  ): Promise<Bindings> {
    let variables = this.variables.get(resource);
    if (variables === undefined) this.variables.set(resource, (variables = await this.bindObjects(resource)));
    if (policy.paramKind === undefined) return variables;
    const own = bind(environmentOf(true), { params: (params ?? null) as JsonValue });
    return { ...variables, params: own["params"]! };
  }

  private async bindObjects(resource: Resource): Promise<Bindings> {
    const { request, objects, services } = this;
    const { object, oldObject } = await objects.read(resource);
    return bind(environmentOf(false), {
      object: (object ?? null) as JsonValue,
      oldObject: (oldObject ?? null) as JsonValue,
      request: requestVariable(request, resource, objects, services.vocabulary),
    });
  }
}
