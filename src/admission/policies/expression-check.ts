import { formatFaults } from "../../cel/syntax/fault-text.ts";
import { admissionregistration, isKindOf } from "../../kinds/groups.ts";
import { applies, until } from "../../base/release-rows.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { PolicyPrograms } from "./environment.ts";
import type { PolicyExpression } from "./policy-expression.ts";
import { mutatingPolicyOf, type MutatingPolicy } from "./mutating-policy.ts";
import { policyOf, type Policy, type PolicyBase } from "./policy.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { typeWarnings } from "./type-check.ts";
import type { ApiObject } from "../../schema/kind.ts";

/** Policies of later releases have a status, to which a controller writes the warnings. */
const warnsOfTypes = applies(until("1.28"));

const checkedKinds = [
  "ValidatingAdmissionPolicy",
  "MutatingAdmissionPolicy",
  "MutatingWebhookConfiguration",
  "ValidatingWebhookConfiguration",
];

function isPolicy({ stored }: Resource): boolean {
  return isKindOf(stored.kind, admissionregistration, "ValidatingAdmissionPolicy");
}

function isMutatingPolicy({ stored }: Resource): boolean {
  return isKindOf(stored.kind, admissionregistration, "MutatingAdmissionPolicy");
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
      isKindOf(resource.stored.kind, admissionregistration, ...checkedKinds),
    async validate({ object, live, target, effects }) {
      if (object === undefined) return;
      const stored = new Set<string>();
      if (live !== undefined) {
        const yieldIfDue = createYielder();
        for (const { text } of expressionsOf(live, target.resource, programs)) {
          stored.add(text);
          await yieldIfDue();
        }
      }
      const own = programs.using((text) => (stored.has(text) ? "stored" : "new"));
      const policy = isPolicy(target.resource) ? policyOf(object, own) : undefined;
      const expressions =
        policy === undefined ? checkedExpressions(object, target.resource, own) : policyExpressions(policy);
      const { faults } = await faultsOf(expressions);
      if (faults.length > 0) {
        const { resource, name } = target;
        throw invalidError({ kind: resource.kind.name, group: resource.group, name }, faults);
      }
      if (policy === undefined || !warnsOfTypes(registry)) return;
      for await (const warning of typeWarnings(policy, programs, registry, vocabulary)) effects.warn(warning);
    },
  };
}

/** Reports the expressions of a policy or a webhook configuration that don't compile. */
export function expressionFaults(
  object: ApiObject,
  resource: Resource,
  programs: PolicyPrograms,
): Promise<FieldReport> {
  return faultsOf(checkedExpressions(object, resource, programs));
}

async function faultsOf(expressions: Iterable<CheckedExpression>): Promise<FieldReport> {
  const faults = FieldReport.start();
  const yieldIfDue = createYielder();
  for (const { path, expression } of expressions) {
    await yieldIfDue();
    const message = faultOf(expression, path);
    if (message === undefined) continue;
    if (faults.full) break;
    faults.at(...path).invalid(expression.text, message);
  }
  return faults;
}

type Path = readonly (string | number)[];

interface CheckedExpression {
  readonly path: Path;
  readonly expression: PolicyExpression;
}

/** The expressions of a policy or a webhook configuration. */
function* expressionsOf(
  object: ApiObject,
  resource: Resource,
  programs: PolicyPrograms,
): Generator<PolicyExpression> {
  for (const { expression } of checkedExpressions(object, resource, programs)) yield expression;
}

function checkedExpressions(
  object: ApiObject,
  resource: Resource,
  programs: PolicyPrograms,
): Iterable<CheckedExpression> {
  if (isPolicy(resource)) return policyExpressions(policyOf(object, programs));
  if (isMutatingPolicy(resource)) return mutatingPolicyExpressions(mutatingPolicyOf(object, programs));
  return webhookExpressions(object, programs);
}

/** The expressions of a mutating policy. */
function* mutatingPolicyExpressions(policy: MutatingPolicy): Generator<CheckedExpression> {
  yield* commonExpressions(policy);
  for (const [index, { type, expression }] of policy.mutations.entries()) {
    const part = type === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
    yield { path: ["spec", "mutations", index, part, "expression"], expression };
  }
}

function* commonExpressions({ matchConditions, variables }: PolicyBase): Generator<CheckedExpression> {
  for (const [index, { expression }] of matchConditions.entries()) {
    yield { path: ["spec", "matchConditions", index, "expression"], expression };
  }
  for (const [index, { expression }] of variables.entries()) {
    yield { path: ["spec", "variables", index, "expression"], expression };
  }
}

/** The expressions of a policy. */
function* policyExpressions(policy: Policy): Generator<CheckedExpression> {
  yield* commonExpressions(policy);
  for (const [index, { expression, messageExpression }] of policy.validations.entries()) {
    yield { path: ["spec", "validations", index, "expression"], expression };
    if (messageExpression === undefined) continue;
    yield { path: ["spec", "validations", index, "messageExpression"], expression: messageExpression };
  }
  for (const [index, { expression }] of policy.auditAnnotations.entries()) {
    yield { path: ["spec", "auditAnnotations", index, auditValue], expression };
  }
}

/** The match conditions of webhooks. */
function* webhookExpressions(
  configuration: ApiObject,
  programs: PolicyPrograms,
): Generator<CheckedExpression> {
  const webhooks = (configuration["webhooks"] ?? []) as readonly {
    readonly matchConditions?: Parameters<PolicyPrograms["conditions"]>[0];
  }[];
  for (const [index, { matchConditions = [] }] of webhooks.entries()) {
    for (const [position, { expression }] of programs.conditions(matchConditions, false).entries()) {
      yield { path: ["webhooks", index, "matchConditions", position, "expression"], expression };
    }
  }
}

const auditValue = "valueExpression";

/** Compiles an expression; undefined if it is valid. The value of an audit annotation must be a text or null. */
function faultOf({ compiled }: PolicyExpression, path: Path): string | undefined {
  const { faults, program } = compiled;
  if (faults !== undefined) return formatFaults(faults);
  if (path.at(-1) !== auditValue) return undefined;
  const { is } = program.type;
  return is === "string" || is === "null" ? undefined : "must evaluate to one of [string null_type]";
}
