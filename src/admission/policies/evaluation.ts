import type { Bindings, Evaluated } from "../../cel/compile.ts";
import { formatFaults } from "../../cel/syntax/fault-text.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { EvaluationVariables, type CostBudget } from "./evaluation-variables.ts";
import { forEachInvocation, type Invocation, type ReportFailure } from "./invocations.ts";
import { checkConditions } from "./match-conditions.ts";
import { messageOf } from "./messages.ts";
import type { PolicyExpression } from "./policy-expression.ts";
import { PolicyInputs, type PolicyServices } from "./policy-inputs.ts";
import type { CheckOutcome, PolicyObserver } from "./policy-observer.ts";
import { PolicyResults, type Finding } from "./policy-results.ts";
import type { Candidate } from "./policy-set.ts";
import type { Binding, Policy, Validation } from "./policy.ts";

/** Message expressions see no authorizer. */
const noAuthorizer: Bindings = { authorizer: null, "authorizer.requestResource": null };

/** Dependencies of the evaluation of validating policies. */
export interface ValidationServices extends PolicyServices {
  readonly observer: PolicyObserver;
}

/** Evaluates the matching policies for one request, one after the other. */
export class PolicyEvaluation {
  private readonly inputs: PolicyInputs;
  private readonly results: PolicyResults;

  constructor(
    private readonly services: ValidationServices,
    request: AdmissionRequest,
  ) {
    this.inputs = new PolicyInputs(services, request);
    this.results = new PolicyResults(request, services.vocabulary);
  }

  private get budget(): CostBudget {
    return this.inputs.budget;
  }

  /** @throws {StatusError} a policy denies the request; the first of them. */
  async evaluate(candidates: readonly Candidate<Policy>[]): Promise<void> {
    const fail: ReportFailure<Policy> = (source, why) => this.fail(source, why);
    for (const candidate of candidates) {
      await forEachInvocation(this.inputs, candidate, fail, (invocation) => this.evaluateOne(invocation));
    }
    this.results.end();
  }

  private async evaluateOne({ policy, binding, resource, params }: Invocation<Policy>): Promise<void> {
    const base = await this.inputs.bindingsFor(policy, resource, params);
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
      const turn = this.inputs.yieldIfDue();
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
}

/** Returns why an expression couldn't be evaluated. */
export function failureOf(
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
