import type { AdmissionPlugin } from "../../admission/admission-chain.ts";
import type { PluginConfiguration } from "../../admission/configuration.ts";
import { mutatingAdmissionPolicy } from "../../admission/plugins/mutating-admission-policy.ts";
import { mutatingPolicyOf } from "../../admission/policies/mutating-policy.ts";
import { MutatingAdmissionPolicyBindingV1 } from "../../kinds/admissionregistration/mutating-admission-policy-binding.ts";
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyV1,
  MutatingAdmissionPolicyV1beta1,
} from "../../kinds/admissionregistration/mutating-admission-policy.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { AdmissionParts } from "../webhooks/admission-parts.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { sharedParts, staticPolicies } from "./policies.ts";

/**
 * Creates the plugin MutatingAdmissionPolicy.
 *
 * @throws {ConfigurationError} if its configuration can't be used.
 */
export async function mutatingPolicies(
  options: ServerOptions,
  parts: AdmissionParts,
  configuration: PluginConfiguration | undefined,
): Promise<AdmissionPlugin> {
  const plugin = "MutatingAdmissionPolicy";
  const versions = [MutatingAdmissionPolicy, MutatingAdmissionPolicyV1beta1, MutatingAdmissionPolicyV1];
  const shared = sharedParts(options, parts, plugin, versions);
  const kinds = [MutatingAdmissionPolicyV1, MutatingAdmissionPolicyBindingV1] as const;
  const compile = (object: ApiObject) => mutatingPolicyOf(object, shared.programs);
  const files = await staticPolicies(options, parts, configuration, { plugin, kinds, compile });
  return mutatingAdmissionPolicy({ ...shared, mutationObserver: parts.policyObserver }, files);
}
