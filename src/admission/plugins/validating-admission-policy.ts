import { andThen, detach, type MaybePromise } from "../../base/maybe-promise.ts";
import { ValidatingAdmissionPolicyBinding } from "../../kinds/admissionregistration/validating-admission-policy-binding.ts";
import { ValidatingAdmissionPolicy } from "../../kinds/admissionregistration/validating-admission-policy.ts";
import type { AdmissionPlugin, SkippedRequest } from "../admission-chain.ts";
import type { AdmissionFacts } from "../followed-objects.ts";
import { isExempt } from "../matching/exempt.ts";
import type { PolicyPrograms } from "../policies/environment.ts";
import { PolicyEvaluation, type PolicyServices } from "../policies/evaluation.ts";
import { PolicySet, type Candidate } from "../policies/policy-set.ts";
import { bindingOf, policyOf, type Binding, type Policy } from "../policies/policy.ts";

/** Dependencies of the plugin. */
export interface PolicyParts extends PolicyServices {
  readonly facts: AdmissionFacts;
  readonly programs: PolicyPrograms;
  /** Whether the feature gate and the group version are enabled. */
  readonly enabled: boolean;
  /** False until the server has written its default objects; these writes don't depend on policies. */
  readonly isServing: () => boolean;
}

const noBindings: readonly Binding[] = [];
const noCandidates: readonly Candidate[] = [];

/**
 * ValidatingAdmissionPolicy: rejects a request if an expression of a bound policy is false (spec: conventions 4.13). A change of
 * a policy or binding is effective for the next request. Has no effect unless the feature gate of the same name and the group
 * version are enabled.
 */
export function validatingAdmissionPolicy(parts: PolicyParts): AdmissionPlugin {
  const { facts, registry, programs } = parts;
  const policies = facts.of(ValidatingAdmissionPolicy, (object) => policyOf(object, programs));
  const bindings = facts.of(ValidatingAdmissionPolicyBinding, bindingOf);
  let cached: { policies: readonly Policy[]; bindings: readonly Binding[]; set: PolicySet } | undefined;

  const setOf = (policies: readonly Policy[], currentBindings: readonly Binding[]): PolicySet => {
    const bindings = currentBindings.length === 0 ? noBindings : currentBindings;
    if (cached?.policies !== policies || cached.bindings !== bindings) {
      cached = { policies, bindings, set: new PolicySet(policies, bindings, registry) };
    }
    return cached.set;
  };

  const candidatesOf = (request: SkippedRequest): MaybePromise<readonly Candidate[]> =>
    andThen(policies.in(""), (allPolicies) => {
      if (allPolicies.length === 0) return noCandidates;
      return andThen(bindings.in(""), (allBindings) => setOf(allPolicies, allBindings).matching(request));
    });

  return {
    name: "ValidatingAdmissionPolicy",
    skips(request) {
      if (!parts.isServing()) return true;
      const candidates = candidatesOf(request);
      // `validate` waits for the same read and reports its failure.
      detach(candidates, () => undefined);
      return !(candidates instanceof Promise) && candidates.length === 0;
    },
    concerns: (_, type) => parts.enabled && !isExempt(type),
    validate(request): MaybePromise<void> {
      if (!parts.isServing()) return undefined;
      return andThen(candidatesOf(request), (candidates) =>
        candidates.length === 0 ? undefined : new PolicyEvaluation(parts, request).evaluate(candidates),
      );
    },
  };
}
