import type { Bindings, Evaluated } from "../../cel/compile.ts";
import { formatFaults } from "../../cel/syntax/fault-text.ts";
import { type AdmissionRequest, subjectOf } from "../../resources/engine/engine.ts";
import { EvaluationVariables, type CostBudget } from "./evaluation-variables.ts";
import { forEachInvocation, type Invocation, type ReportFailure } from "./invocations.ts";
import { checkConditions } from "./match-conditions.ts";
import type { PolicyExpression } from "./policy-expression.ts";
import { PolicyInputs, type PolicyServices } from "./policy-inputs.ts";
import type { CheckOutcome, PolicyObserver } from "./policy-observer.ts";
import type { Candidate } from "./policy-set.ts";
import type { Binding, Policy, Validation } from "./policy.ts";
import { groupAnnotation } from "../../vocabulary/names.ts";
import { StatusError, type Reason } from "../../base/status-error.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { forbidden } from "../forbidden.ts";

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

/** Longer messages of expressions are ignored, in characters. */
const maxMessageLength = 5 * 1024;

/** Returns the message of an expression that doesn't hold: that of the message expression if it yields one, else the constant one. */
async function messageOf(validation: Validation, variables: EvaluationVariables): Promise<string> {
  const { expression, message, messageExpression } = validation;
  const byDefault = message === "" ? `failed expression: ${expression.text.trim()}` : message;
  if (messageExpression === undefined) return byDefault;
  const result = await variables.evaluate(messageExpression);
  if (result?.outcome !== "value" || typeof result.value !== "string") return byDefault;
  const text = result.value.trim();
  return text === "" || text.length > maxMessageLength || /[\n\r]/.test(text) ? byDefault : text;
}

/** An expression of a policy that doesn't hold. */
interface Finding {
  readonly policy: Policy;
  readonly binding: Binding;
  /** Position of the expression. */
  readonly index: number;
}

/** Maximum number of findings in the audit log for one request. */
const maxFindings = 100;
/** Longer values of an audit annotation are truncated, in characters. */
const maxAnnotationLength = 10 * 1024;

/** Collects what policies find in a request, and reports it as their bindings say. */
class PolicyResults {
  private denied: StatusError | undefined;
  private readonly audited: object[] = [];
  /** Distinct values by key, and their length. */
  private readonly annotations = new Map<string, { readonly values: Set<string>; length: number }>();

  constructor(
    private readonly request: AdmissionRequest,
    private readonly vocabulary: Vocabulary,
  ) {}

  /** Handles an expression that doesn't hold by the actions of the binding. */
  report({ policy, binding, index }: Finding, message: string, reason: string | undefined): void {
    for (const action of binding.actions) {
      if (action === "Deny") this.denied ??= denial(this.request, policy, binding, message, reason);
      else if (action === "Warn") {
        const source = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
        this.request.effects.warn(`Validation failed for ${source}: ${message}`);
      } else if (this.audited.length < maxFindings) {
        this.audited.push({
          message,
          policy: policy.name,
          binding: binding.name,
          expressionIndex: index,
          validationActions: binding.actions,
        });
      }
    }
  }

  /** Denies the request because a policy can't be evaluated. */
  deny(policy: Policy, binding: Binding | undefined, why: string): void {
    this.denied ??= denial(this.request, policy, binding, why);
  }

  /** Adds a value of an audit annotation; several bindings and parameters may add some. */
  annotate(policy: Policy, key: string, value: string): void {
    const name = `${policy.name}/${key}`;
    let annotation = this.annotations.get(name);
    if (annotation === undefined) this.annotations.set(name, (annotation = { values: new Set(), length: 0 }));
    const text = value.trim().slice(0, maxAnnotationLength - annotation.length);
    if (annotation.length >= maxAnnotationLength || annotation.values.has(text)) return;
    annotation.values.add(text);
    annotation.length += text.length;
  }

  /**
   * Writes the audit annotations.
   *
   * @throws {StatusError} a policy denies the request; the first of them.
   */
  end(): void {
    const { effects } = this.request;
    for (const [name, { values }] of this.annotations) effects.annotate(name, [...values].join(", "));
    if (this.audited.length > 0) {
      const key = groupAnnotation(
        this.vocabulary.groupSuffix,
        "validation_failure",
        "validation.policy.admission",
      );
      effects.annotate(key, JSON.stringify(this.audited));
    }
    if (this.denied !== undefined) throw this.denied;
  }
}

/** Reasons that a policy may have; each has its code. All others count as Invalid. */
const reasons: ReadonlySet<string> = new Set<Reason>([
  "Unauthorized",
  "Forbidden",
  "Invalid",
  "RequestEntityTooLarge",
]);

/**
 * The error for a request that a policy denies.
 *
 * @param binding undefined if the policy itself is invalid.
 * @param reason Invalid if absent.
 */
function denial(
  { target }: AdmissionRequest,
  policy: Policy,
  binding: Binding | undefined,
  why: string,
  reason = "Invalid",
): StatusError {
  const bound = binding === undefined ? "" : ` with binding '${binding.name}'`;
  const message = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${why}`;
  const { message: whole, details } = forbidden(target, message);
  const cause = { reason: "", message, field: "" } as const;
  const validReason = reasons.has(reason) ? (reason as Reason) : "Invalid";
  return new StatusError(validReason, whole, { ...details, ...namesOf(target), causes: [cause] });
}

function namesOf(target: AdmissionRequest["target"]): { readonly name: string; readonly kind: string } {
  const { name, resource } = subjectOf(target);
  return { name, kind: resource };
}
