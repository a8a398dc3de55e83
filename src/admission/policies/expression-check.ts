import { faultText } from "../../cel/fault-text.ts";
import { ValidatingAdmissionPolicy } from "../../kinds/admissionregistration/validating-admission-policy.ts";
import type { Registry } from "../../resources/registry.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { PolicyPrograms } from "./environment.ts";
import { policyOf } from "./policy.ts";
import { turnGiver } from "../../base/turns.ts";
import { typeWarnings } from "./type-check.ts";

/**
 * The expressions of a policy that is written compile; what the kinds that its rules match don't have is warned of. A part of
 * validation, so it can't be turned off.
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
      resource.stored.kind === ValidatingAdmissionPolicy,
    async validate({ object, target, effects }) {
      if (object === undefined) return;
      const policy = policyOf(object, programs);
      const faults = FieldReport.start();
      const giveTurn = turnGiver();
      for (const [index, { expression, compiled }] of policy.validations.entries()) {
        await giveTurn();
        const found = compiled.faults;
        if (found === undefined) continue;
        if (faults.full) break;
        faults.at("spec", "validations", index, "expression").invalid(expression, faultText(found));
      }
      if (faults.faults.length > 0) {
        const { resource, name } = target;
        throw invalidError({ kind: resource.kind.name, group: resource.group, name }, faults.faults);
      }
      for await (const warning of typeWarnings(policy, registry, vocabulary)) effects.warn(warning);
    },
  };
}
