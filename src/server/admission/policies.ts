import { isAtLeast } from "../../base/releases.ts";
import type { PolicyServices } from "../../admission/policies/policy-inputs.ts";
import type { PolicyParts, PolicyPluginParts } from "../../admission/plugins/validating-admission-policy.ts";
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyV1,
  ValidatingAdmissionPolicyV1beta1,
} from "../../kinds/admissionregistration/validating-admission-policy.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { KindContext } from "../../schema/context.ts";
import type { Kind } from "../../schema/kind.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { AdmissionParts } from "../webhooks/admission-parts.ts";
import { policyPrograms } from "../webhooks/policy-programs.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Dependencies of both plugins of policies. */
export type SharedParts = PolicyPluginParts & PolicyServices;

/** Returns the dependencies of the plugin ValidatingAdmissionPolicy. */
export function policyParts(options: ServerOptions, parts: AdmissionParts): PolicyParts {
  const versions = [ValidatingAdmissionPolicy, ValidatingAdmissionPolicyV1beta1, ValidatingAdmissionPolicyV1];
  return {
    ...sharedParts(options, parts, "ValidatingAdmissionPolicy", versions),
    observer: parts.policyObserver,
  };
}

/**
 * Returns the dependencies of both plugins of policies.
 *
 * @param gate the feature gate of the plugin.
 * @param versions the versions of the policies; without any of them the plugin has no effect.
 */
export function sharedParts(
  options: ServerOptions,
  parts: AdmissionParts,
  gate: string,
  versions: readonly Kind[],
): SharedParts {
  const { facts, registry, store, authorizer } = parts;
  const { vocabulary, clock, allowPrivileged } = options;
  const { enabled } = featureGates(options);
  const contextOf = ({ target, user }: AdmissionRequest): KindContext => ({
    vocabulary,
    enabled,
    release: registry.release,
    forbidsPrivileged: !allowPrivileged,
    subresource: target.subresource,
    user,
    now: clock.now(),
  });
  return {
    facts,
    registry,
    store,
    vocabulary,
    clock,
    contextOf,
    programs: policyPrograms(options),
    authorizer,
    namespaces: facts.namespaces,
    enabled: enabled(gate) && versions.some((kind) => registry.serves(kind)),
    excludesReviews: isAtLeast(options.release, "1.30"),
    isServing: parts.webhooks.isServing,
  };
}
