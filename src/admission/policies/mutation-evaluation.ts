import type { MaybePromise } from "../../base/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { createYielder } from "../../base/yielding.ts";
import { formatFaults } from "../../cel/fault-text.ts";
import type { Value } from "../../cel/values.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { selects } from "../matching/selectors.ts";
import { Reinvocation } from "../webhooks/reinvocation.ts";
import { applyMutation } from "./apply-mutation.ts";
import { failureOf } from "./evaluation.ts";
import { EvaluationVariables } from "./evaluation-variables.ts";
import { PolicyFailure } from "./failure.ts";
import { checkConditions } from "./match-conditions.ts";
import type { MutatingPolicy, Mutation } from "./mutating-policy.ts";
import { mutationDenial, MutationFailure, type MutationDenial } from "./mutation-failure.ts";
import type { MutationObserver } from "./policy-observer.ts";
import { PolicyInputs, type PolicyServices } from "./policy-inputs.ts";
import type { Candidate } from "./policy-set.ts";
import type { Binding } from "./policy.ts";

/** The policies that a request has passed, for the second round. */
class PolicyReinvocation extends Reinvocation {}

/** Dependencies of the evaluation of mutating policies. */
export interface MutationServices extends PolicyServices {
  readonly mutationObserver: MutationObserver;
}

/** A policy with a binding and one object with parameters. */
interface Invocation {
  readonly policy: MutatingPolicy;
  readonly binding: Binding;
  readonly resource: Resource;
  readonly params: ApiObject | undefined;
}

/** Evaluates the matching mutating policies for one request and changes its object, in one round. */
export class MutationEvaluation {
  private readonly inputs: PolicyInputs;
  private readonly denials: MutationDenial[] = [];
  private readonly yieldIfDue = createYielder();

  constructor(
    private readonly services: MutationServices,
    private readonly request: AdmissionRequest,
  ) {
    this.inputs = new PolicyInputs(services, request);
  }

  /** @throws {StatusError} a policy with the failure policy `Fail` can't be evaluated. */
  async evaluate(candidates: readonly Candidate<MutatingPolicy>[]): Promise<void> {
    const invocations: Invocation[] = [];
    for (const candidate of candidates) {
      for (const one of await this.invocationsOf(candidate)) invocations.push(one);
    }
    if (invocations.length > 0) await this.invokeAll(invocations);
    const denials = this.denials.filter(({ policy }) => !policy.ignoresFailures);
    if (denials.length > 0) throw mutationDenial(this.request, denials);
  }

  /** Returns the bindings of a policy that select the request, each with its parameters. */
  private async invocationsOf({
    policy,
    bindings,
    resource,
  }: Candidate<MutatingPolicy>): Promise<Invocation[]> {
    const { request, services, inputs } = this;
    const { namespaces } = services;
    const isSelected = await this.attempt(policy, undefined, () =>
      selects(policy.constraints.selectors, request, namespaces),
    );
    if (isSelected !== true) return [];
    const isReady = await this.attempt(policy, undefined, () => (inputs.params.assertKind(policy), true));
    if (isReady !== true) return [];
    const invocations: Invocation[] = [];
    for (const binding of bindings) {
      const { constraints } = binding;
      const applies = await this.attempt(policy, binding, () =>
        constraints === undefined ? true : selects(constraints.selectors, request, namespaces),
      );
      if (applies !== true) continue;
      const selected = await this.attempt(policy, binding, () =>
        inputs.params.get(policy, binding, request.target.namespace),
      );
      for (const params of selected ?? []) invocations.push({ policy, binding, resource, params });
    }
    return invocations;
  }

  /** Runs a step that may fail; undefined if it did. */
  private async attempt<T>(
    policy: MutatingPolicy,
    binding: Binding | undefined,
    work: () => MaybePromise<T>,
  ): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PolicyFailure || error instanceof StatusError)) throw error;
      this.denials.push({ policy, binding: binding?.name, message: error.message, evaluated: false });
      return undefined;
    }
  }

  private async invokeAll(invocations: readonly Invocation[]): Promise<void> {
    const { request } = this;
    const reinvocation = request.effects.state(PolicyReinvocation);
    if (request.reinvocation) reinvocation.begin(request);
    let mutated = false;
    for (const invocation of invocations) {
      await this.yieldIfDue();
      const { policy } = invocation;
      const id = idOf(invocation);
      if (!(await this.matches(invocation))) continue;
      if (request.reinvocation && !reinvocation.isNeeded({ id })) continue;
      const outcome = await this.invoke(invocation);
      if (outcome !== "failed") mutated = true;
      if (outcome === "changed") reinvocation.objectChanged();
      reinvocation.called({ id, reinvoked: policy.reinvoked });
    }
    // As in the reference, each policy with IfNeeded is evaluated twice if any mutation was applied.
    if (mutated) {
      reinvocation.objectChanged();
      request.effects.requestReinvocation();
    }
    reinvocation.end(request);
  }

  private async matches({ policy, binding, resource, params }: Invocation): Promise<boolean> {
    if (policy.matchConditions.length === 0) return true;
    const base = await this.inputs.bindingsFor(policy, resource, params);
    const outcome = await checkConditions(policy.matchConditions, base, this.inputs.budget);
    if (outcome.error === undefined) return outcome.matches;
    this.denials.push({ policy, binding: binding.name, message: outcome.error, evaluated: true });
    return false;
  }

  /** Evaluates the mutations of a policy in order; `failed` if none could be applied. */
  private async invoke(invocation: Invocation): Promise<"changed" | "unchanged" | "failed"> {
    const { policy, binding } = invocation;
    const { mutationObserver } = this.services;
    let outcome: "changed" | "unchanged" | "failed" = "failed";
    for (const mutation of policy.mutations) {
      const startMs = performance.now();
      const seconds = () => (performance.now() - startMs) / 1000;
      try {
        const changed = await this.mutate(invocation, mutation);
        mutationObserver.mutated(policy, binding, "no_error", seconds());
        if (changed) this.inputs.objectChanged();
        if (changed || outcome === "changed") outcome = "changed";
        else outcome = "unchanged";
      } catch (error) {
        if (!(error instanceof MutationFailure)) throw error;
        mutationObserver.mutated(policy, binding, error.errorType, seconds());
        this.denials.push({ policy, binding: binding.name, message: error.message, evaluated: true });
      }
    }
    return outcome;
  }

  /** @throws {MutationFailure} the mutation can't be evaluated or applied. */
  private async mutate({ policy, resource, params }: Invocation, mutation: Mutation): Promise<boolean> {
    const { inputs, request } = this;
    const base = await inputs.bindingsFor(policy, resource, params);
    const value = await this.valueOf(
      mutation,
      new EvaluationVariables(policy.variables, base, inputs.budget),
    );
    if (request.operation === "CONNECT") {
      throw new MutationFailure("the options of a connection can't be changed");
    }
    return applyMutation(mutation.type, inputs.objects, resource, value);
  }

  private async valueOf({ expression }: Mutation, variables: EvaluationVariables): Promise<Value> {
    const { budget } = this.inputs;
    const result = await variables.evaluate(expression);
    if (result?.outcome === "value") return result.value;
    if (result === undefined) {
      const why = formatFaults(expression.compiled.faults ?? []);
      throw new MutationFailure(`compilation failed: ${why}`, "compile_error");
    }
    throw new MutationFailure(
      failureOf(expression, result, budget),
      budget.isExhausted ? "out_of_budget" : "invalid_error",
    );
  }
}

/** Identifies a policy with a binding and parameters in one request. */
function idOf({ policy, binding, params }: Invocation): string {
  const { namespace = "", name = "" } = params?.metadata ?? {};
  return JSON.stringify([policy.name, binding.name, namespace, name]);
}
