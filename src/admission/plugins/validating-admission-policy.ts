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

/** What the plugin needs of the server beside what evaluations do. */
export interface PolicyParts extends PolicyServices {
  readonly facts: AdmissionFacts;
  readonly programs: PolicyPrograms;
  /** Whether the feature gate and the group version of policies are on. */
  readonly enabled: boolean;
  /** False while the server starts: its own first writes don't depend on policies. */
  readonly isServing: () => boolean;
}

const noBindings: readonly Binding[] = [];
const noCandidates: readonly Candidate[] = [];

/**
 * ValidatingAdmissionPolicy: a request is rejected for which an expression of a policy that is bound doesn't hold
 * (spec: conventions 4.13). A change of a policy or a binding counts for the very next request. Does nothing unless the
 * feature gate of the same name and the group version of policies are on.
 */
export function validatingAdmissionPolicy(parts: PolicyParts): AdmissionPlugin {
  const { facts, registry, programs } = parts;
  const policies = facts.of(ValidatingAdmissionPolicy, (object) => policyOf(object, programs));
  const bindings = facts.of(ValidatingAdmissionPolicyBinding, bindingOf);
  let from: { policies: readonly Policy[]; bindings: readonly Binding[]; set: PolicySet } | undefined;

  const setOf = (policies: readonly Policy[], given: readonly Binding[]): PolicySet => {
    const bindings = given.length === 0 ? noBindings : given;
    if (from?.policies !== policies || from.bindings !== bindings) {
      from = { policies, bindings, set: new PolicySet(policies, bindings, registry) };
    }
    return from.set;
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
      const found = candidatesOf(request);
      // Whoever asks next waits for it, and is told of a failure.
      detach(found, () => undefined);
      return !(found instanceof Promise) && found.length === 0;
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
