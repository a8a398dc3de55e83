import { groupAnnotation } from "../../vocabulary/names.ts";
import type { StatusError } from "../../base/status-error.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { denial } from "./denial.ts";
import type { Binding, Policy } from "./policy.ts";

/** An expression of a policy that doesn't hold. */
export interface Finding {
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
export class PolicyResults {
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
