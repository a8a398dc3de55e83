import { MutatingAdmissionPolicyBinding } from "../../kinds/admissionregistration/mutating-admission-policy-binding.ts";
import { MutatingAdmissionPolicy } from "../../kinds/admissionregistration/mutating-admission-policy.ts";
import { MutatingWebhookConfiguration } from "../../kinds/admissionregistration/mutating-webhook-configuration.ts";
import { ValidatingAdmissionPolicyBinding } from "../../kinds/admissionregistration/validating-admission-policy-binding.ts";
import { ValidatingAdmissionPolicy } from "../../kinds/admissionregistration/validating-admission-policy.ts";
import { ValidatingWebhookConfiguration } from "../../kinds/admissionregistration/validating-webhook-configuration.ts";
import type { AdmittedType } from "../admission-chain.ts";
import { declarationOf } from "../../schema/kind.ts";

const exempt: ReadonlySet<unknown> = new Set([
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
]);

/**
 * Whether a resource type is never sent to webhooks and policies: their own configurations. So a configuration that rejects
 * everything can be removed.
 */
export function isExempt({ resource }: AdmittedType): boolean {
  return exempt.has(declarationOf(resource.stored.kind));
}
