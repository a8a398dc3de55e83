import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { MutatingAdmissionPolicyBinding } from "../../kinds/admissionregistration/mutating-admission-policy-binding.ts";
import { MutatingAdmissionPolicy } from "../../kinds/admissionregistration/mutating-admission-policy.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { isExempt, isReview } from "../matching/exempt.ts";
import type { StaticObjects } from "../manifests/static-objects.ts";
import { FollowedPolicies, type StaticPolicies } from "../policies/followed-policies.ts";
import { mutatingPolicyOf, type MutatingPolicy } from "../policies/mutating-policy.ts";
import { MutationEvaluation, type MutationServices } from "../policies/mutation-evaluation.ts";
import { bindingOf } from "../policies/policy.ts";
import type { PolicyPluginParts } from "./validating-admission-policy.ts";

/**
 * MutatingAdmissionPolicy: changes the object of a request by the expressions of bound policies. A change of a policy or binding is
 * effective for the next request. Has no effect unless the feature gate of the same name and a group version are enabled.
 */
export function mutatingAdmissionPolicy(
  parts: PolicyPluginParts & MutationServices,
  files?: StaticObjects<StaticPolicies<MutatingPolicy>>,
): AdmissionPlugin {
  const { facts, registry, programs } = parts;
  const followed = new FollowedPolicies(
    facts.of(MutatingAdmissionPolicy, (object) => mutatingPolicyOf(object, programs)),
    facts.of(MutatingAdmissionPolicyBinding, bindingOf),
    registry,
    files,
  );
  return {
    name: "MutatingAdmissionPolicy",
    skips: (request) => !parts.isServing() || followed.matchesNone(request),
    concerns: (operation, type) =>
      parts.enabled && operation !== "DELETE" && (files !== undefined || !isExempt(type)) && !isReview(type),
    mutate(request): MaybePromise<void> {
      if (!parts.isServing() || request.object === undefined) return undefined;
      return andThen(followed.matching(request), (candidates) =>
        candidates.length === 0 ? undefined : new MutationEvaluation(parts, request).evaluate(candidates),
      );
    },
  };
}
