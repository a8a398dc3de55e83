import { formatFaults } from "../../cel/fault-text.ts";
import { ValidatingAdmissionPolicy } from "../../kinds/admissionregistration/validating-admission-policy.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { PolicyPrograms } from "./environment.ts";
import { policyOf } from "./policy.ts";
import { createYielder } from "../../base/yielding.ts";
import { typeWarnings } from "./type-check.ts";
import { declarationOf } from "../../schema/kind.ts";

/**
 * PolicyExpressionCheck: rejects a policy with expressions that don't compile, and warns about fields that the matching kinds
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
      declarationOf(resource.stored.kind) === ValidatingAdmissionPolicy,
    async validate({ object, target, effects }) {
      if (object === undefined) return;
      const policy = policyOf(object, programs);
      const faults = FieldReport.start();
      const yieldIfDue = createYielder();
      for (const [index, { expression, compiled }] of policy.validations.entries()) {
        await yieldIfDue();
        const errors = compiled.faults;
        if (errors === undefined) continue;
        if (faults.full) break;
        faults.at("spec", "validations", index, "expression").invalid(expression, formatFaults(errors));
      }
      if (faults.faults.length > 0) {
        const { resource, name } = target;
        throw invalidError({ kind: resource.kind.name, group: resource.group, name }, faults.faults);
      }
      for await (const warning of typeWarnings(policy, registry, vocabulary)) effects.warn(warning);
    },
  };
}
