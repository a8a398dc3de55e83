import { formatFaults } from "../../cel/syntax/fault-text.ts";
import type { Value } from "../../cel/values/values.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { Reinvocation } from "../webhooks/reinvocation.ts";
import { applyMutation } from "./apply-mutation.ts";
import { failureOf } from "./evaluation.ts";
import { EvaluationVariables } from "./evaluation-variables.ts";
import { forEachInvocation, type Invocation, type ReportFailure } from "./invocations.ts";
import { checkConditions } from "./match-conditions.ts";
import type { MutatingPolicy, Mutation } from "./mutating-policy.ts";
import { mutationDenial, MutationFailure, type MutationDenial } from "./mutation-failure.ts";
import type { MutationObserver } from "./policy-observer.ts";
import { PolicyInputs, type PolicyServices } from "./policy-inputs.ts";
import type { Candidate } from "./policy-set.ts";

/** The policies that a request has passed, for the second round. */
class PolicyReinvocation extends Reinvocation {}

type MutationInvocation = Invocation<MutatingPolicy>;

/** Dependencies of the evaluation of mutating policies. */
export interface MutationServices extends PolicyServices {
  readonly mutationObserver: MutationObserver;
}

/** Evaluates the matching mutating policies for one request and changes its object, in one round. */
export class MutationEvaluation {
  private readonly inputs: PolicyInputs;
  private readonly denials: MutationDenial[] = [];

  constructor(
    private readonly services: MutationServices,
    private readonly request: AdmissionRequest,
  ) {
    this.inputs = new PolicyInputs(services, request);
  }

  /** @throws {StatusError} a policy with the failure policy `Fail` can't be evaluated. */
  async evaluate(candidates: readonly Candidate<MutatingPolicy>[]): Promise<void> {
    const invocations: MutationInvocation[] = [];
    const fail: ReportFailure<MutatingPolicy> = ({ policy, binding }, message) => {
      this.denials.push({ policy, binding: binding?.name, message, evaluated: false });
    };
    for (const candidate of candidates) {
      await forEachInvocation(this.inputs, candidate, fail, (one) => void invocations.push(one));
    }
    if (invocations.length > 0) await this.invokeAll(invocations);
    const denials = this.denials.filter(({ policy }) => !policy.ignoresFailures);
    if (denials.length > 0) throw mutationDenial(this.request, denials);
  }

  private async invokeAll(invocations: readonly MutationInvocation[]): Promise<void> {
    const { request } = this;
    const reinvocation = request.effects.state(PolicyReinvocation);
    if (request.reinvocation) reinvocation.begin(request);
    let mutated = false;
    for (const invocation of invocations) {
      await this.inputs.yieldIfDue();
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

  private async matches({ policy, binding, resource, params }: MutationInvocation): Promise<boolean> {
    if (policy.matchConditions.length === 0) return true;
    const base = await this.inputs.bindingsFor(policy, resource, params);
    const outcome = await checkConditions(policy.matchConditions, base, this.inputs.budget);
    if (outcome.error === undefined) return outcome.matches;
    this.denials.push({ policy, binding: binding.name, message: outcome.error, evaluated: true });
    return false;
  }

  /** Evaluates the mutations of a policy in order; `failed` if none could be applied. */
  private async invoke(invocation: MutationInvocation): Promise<"changed" | "unchanged" | "failed"> {
    const { policy, binding } = invocation;
    const { mutationObserver } = this.services;
    let outcome: "changed" | "unchanged" | "failed" = "failed";
    for (const mutation of policy.mutations) {
      await this.inputs.yieldIfDue();
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
  private async mutate(
    { policy, resource, params }: MutationInvocation,
    mutation: Mutation,
  ): Promise<boolean> {
    const { inputs, request } = this;
    const base = await inputs.bindingsFor(policy, resource, params);
    const value = await this.valueOf(
      mutation,
      new EvaluationVariables(policy.variables, base, inputs.budget),
    );
    if (request.operation === "CONNECT") {
      throw new MutationFailure("the options of a connection can't be changed");
    }
    return applyMutation(mutation.type, inputs.objects, resource, value, this.inputs.yieldIfDue);
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
function idOf({ policy, binding, params }: MutationInvocation): string {
  const { namespace = "", name = "" } = params?.metadata ?? {};
  return JSON.stringify([policy.name, binding.name, namespace, name]);
}
