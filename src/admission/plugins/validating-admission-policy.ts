import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { ValidatingAdmissionPolicyBinding } from "../../kinds/admissionregistration/validating-admission-policy-binding.ts";
import { ValidatingAdmissionPolicy } from "../../kinds/admissionregistration/validating-admission-policy.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { AdmissionFacts } from "../followed-objects.ts";
import { isExempt, isReview } from "../matching/exempt.ts";
import type { PolicyPrograms } from "../policies/environment.ts";
import { PolicyEvaluation, type ValidationServices } from "../policies/evaluation.ts";
import type { StaticObjects } from "../manifests/static-objects.ts";
import { FollowedPolicies, type StaticPolicies } from "../policies/followed-policies.ts";
import { bindingOf, policyOf, type Policy } from "../policies/policy.ts";

/** Dependencies of a plugin for policies. */
export interface PolicyPluginParts {
  readonly facts: AdmissionFacts;
  readonly programs: PolicyPrograms;
  /** Whether the feature gate and the group version are enabled. */
  readonly enabled: boolean;
  /** Whether reviews, which are not stored, never match policies. */
  readonly excludesReviews: boolean;
  /** False until the server has written its default objects; these writes don't depend on policies. */
  readonly isServing: () => boolean;
}

/** Dependencies of the plugin. */
export type PolicyParts = PolicyPluginParts & ValidationServices;

/**
 * ValidatingAdmissionPolicy: rejects a request if an expression of a bound policy is false (spec: conventions 4.13). A change of
 * a policy or binding is effective for the next request. Has no effect unless the feature gate of the same name and the group
 * version are enabled.
 */
export function validatingAdmissionPolicy(
  parts: PolicyParts,
  files?: StaticObjects<StaticPolicies<Policy>>,
): AdmissionPlugin {
  const { facts, registry, programs } = parts;
  const followed = new FollowedPolicies(
    facts.of(ValidatingAdmissionPolicy, (object) => policyOf(object, programs)),
    facts.of(ValidatingAdmissionPolicyBinding, bindingOf),
    registry,
    files,
  );
  return {
    name: "ValidatingAdmissionPolicy",
    skips: (request) => !parts.isServing() || followed.matchesNone(request),
    concerns: (_, type) =>
      parts.enabled && (files !== undefined || !isExempt(type)) && !(parts.excludesReviews && isReview(type)),
    validate(request): MaybePromise<void> {
      if (!parts.isServing()) return undefined;
      return andThen(followed.matching(request), (candidates) =>
        candidates.length === 0 ? undefined : new PolicyEvaluation(parts, request).evaluate(candidates),
      );
    },
  };
}
