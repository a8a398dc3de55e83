import { MutatingWebhookConfiguration } from "../../kinds/admissionregistration/mutating-webhook-configuration.ts";
import { ValidatingAdmissionPolicyBinding } from "../../kinds/admissionregistration/validating-admission-policy-binding.ts";
import { ValidatingAdmissionPolicy } from "../../kinds/admissionregistration/validating-admission-policy.ts";
import { ValidatingWebhookConfiguration } from "../../kinds/admissionregistration/validating-webhook-configuration.ts";
import type { AdmittedType } from "../admission-chain.ts";

const exempt: ReadonlySet<unknown> = new Set([
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
]);

/**
 * Whether webhooks and policies are never asked about a resource type: those that configure them. One that refuses
 * everything can thus always be removed.
 */
export function isExempt({ resource }: AdmittedType): boolean {
  return exempt.has(resource.stored.kind);
}
