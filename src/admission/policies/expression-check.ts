import { formatFaults } from "../../cel/fault-text.ts";
import { ValidatingAdmissionPolicy } from "../../kinds/admissionregistration/validating-admission-policy.ts";
import { MutatingWebhookConfiguration } from "../../kinds/admissionregistration/mutating-webhook-configuration.ts";
import { ValidatingWebhookConfiguration } from "../../kinds/admissionregistration/validating-webhook-configuration.ts";
import { webhooksOf } from "../webhooks/webhook.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { PolicyPrograms } from "./environment.ts";
import type { PolicyExpression } from "./policy-expression.ts";
import { policyOf, type Policy } from "./policy.ts";
import { createYielder } from "../../base/yielding.ts";
import { typeWarnings } from "./type-check.ts";
import { declarationOf, type ApiObject, type Kind } from "../../schema/kind.ts";

const checkedKinds: ReadonlySet<Kind> = new Set<Kind>([
  ValidatingAdmissionPolicy,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
]);

function isPolicy({ stored }: Resource): boolean {
  return declarationOf(stored.kind) === ValidatingAdmissionPolicy;
}

/**
 * PolicyExpressionCheck: rejects a policy or webhook with expressions that don't compile, and warns about fields that the matching kinds
 * don't have. It is a part of validation and can't be disabled.
 */
export function policyExpressionCheck(
  programs: PolicyPrograms,
  registry: Registry,
  vocabulary: Vocabulary,
): AdmissionPlugin {
  return {
    name: "PolicyExpressionCheck",
    concerns: (operation, { resource, subresource }) =>
      (operation === "CREATE" || operation === "UPDATE") &&
      subresource === "" &&
      checkedKinds.has(declarationOf(resource.stored.kind)),
    async validate({ object, target, effects }) {
      if (object === undefined) return;
      const policy = isPolicy(target.resource) ? policyOf(object, programs) : undefined;
      const expressions =
        policy === undefined ? webhookExpressions(object, programs) : policyExpressions(policy);
      const faults = FieldReport.start();
      const yieldIfDue = createYielder();
      for (const { path, expression, faults: found } of expressions) {
        await yieldIfDue();
        if (found === undefined) continue;
        if (faults.full) break;
        faults.at(...path).invalid(expression.text, found);
      }
      if (faults.faults.length > 0) {
        const { resource, name } = target;
        throw invalidError({ kind: resource.kind.name, group: resource.group, name }, faults.faults);
      }
      if (policy === undefined) return;
      for await (const warning of typeWarnings(policy, registry, vocabulary)) effects.warn(warning);
    },
  };
}

type Path = readonly (string | number)[];

interface CheckedExpression {
  readonly path: Path;
  readonly expression: PolicyExpression;
  /** Undefined if it compiles. */
  readonly faults: string | undefined;
}

/** Compiles the expressions of a policy, one at a time. */
function* policyExpressions(policy: Policy): Generator<CheckedExpression> {
  const check = (expression: PolicyExpression, ...path: Path) => checked(expression, ["spec", ...path]);
  for (const [index, { expression }] of policy.matchConditions.entries()) {
    yield check(expression, "matchConditions", index, "expression");
  }
  for (const [index, { expression }] of policy.variables.entries()) {
    yield check(expression, "variables", index, "expression");
  }
  for (const [index, { expression, messageExpression }] of policy.validations.entries()) {
    yield check(expression, "validations", index, "expression");
    if (messageExpression !== undefined) {
      yield check(messageExpression, "validations", index, "messageExpression");
    }
  }
  for (const [index, { expression }] of policy.auditAnnotations.entries()) {
    const value = check(expression, "auditAnnotations", index, "valueExpression");
    yield { ...value, faults: value.faults ?? valueTypeFault(expression) };
  }
}

/** Requires a text or null as the value of an audit annotation. */
function valueTypeFault({ compiled }: PolicyExpression): string | undefined {
  const is = compiled.program?.type.is;
  return is === "string" || is === "null" ? undefined : "must evaluate to one of [string null_type]";
}

/** Compiles the match conditions of webhooks, one at a time. */
function* webhookExpressions(
  configuration: ApiObject,
  programs: PolicyPrograms,
): Generator<CheckedExpression> {
  for (const [index, { matchConditions }] of webhooksOf(configuration, programs).entries()) {
    for (const [position, { expression }] of matchConditions.entries()) {
      yield checked(expression, ["webhooks", index, "matchConditions", position, "expression"]);
    }
  }
}

function checked(expression: PolicyExpression, path: Path): CheckedExpression {
  const { faults } = expression.compiled;
  return { path, expression, faults: faults && formatFaults(faults) };
}
