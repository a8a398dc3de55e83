import type { AdmissionPlugin } from "../../admission/admission-chain.ts";
import { mutatingAdmissionPolicy } from "../../admission/plugins/mutating-admission-policy.ts";
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyV1,
  MutatingAdmissionPolicyV1beta1,
} from "../../kinds/admissionregistration/mutating-admission-policy.ts";
import type { AdmissionParts } from "../webhooks/admission-parts.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { sharedParts } from "./policies.ts";

/** Creates the plugin MutatingAdmissionPolicy. */
export function mutatingPolicies(options: ServerOptions, parts: AdmissionParts): AdmissionPlugin {
  const versions = [MutatingAdmissionPolicy, MutatingAdmissionPolicyV1beta1, MutatingAdmissionPolicyV1];
  return mutatingAdmissionPolicy({
    ...sharedParts(options, parts, "MutatingAdmissionPolicy", versions),
    mutationObserver: parts.policyObserver,
  });
}
