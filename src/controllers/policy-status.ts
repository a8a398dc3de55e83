import type { PolicyPrograms } from "../admission/policies/environment.ts";
import { policyOf } from "../admission/policies/policy.ts";
import { statusWarnings } from "../admission/policies/type-check.ts";
import { applies, since } from "../base/release-rows.ts";
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyV1,
  ValidatingAdmissionPolicyV1beta1,
} from "../kinds/admissionregistration/validating-admission-policy.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { Controller } from "./controller.ts";
import { reconcileMatching, type ReconciliationDependencies } from "./reconcile-matching.ts";

/** Dependencies of {@link policyStatus}. */
export interface PolicyStatusDependencies extends ReconciliationDependencies {
  readonly policyPrograms: PolicyPrograms;
  readonly vocabulary: Vocabulary;
}

const versions = [ValidatingAdmissionPolicyV1, ValidatingAdmissionPolicyV1beta1, ValidatingAdmissionPolicy];

/** The part of a policy that the controller reads and writes. */
interface CheckedPolicy extends ApiObject {
  readonly status?: { readonly observedGeneration?: number };
}

const writesStatus = applies(since("1.28"));

/**
 * Checks the expressions of each generation of a ValidatingAdmissionPolicy against the kinds that it matches, and writes the warnings to
 * its status. Release 1.28 and later.
 */
export const policyStatus: Controller<PolicyStatusDependencies> = {
  name: "validatingadmissionpolicy-status",
  start(context) {
    const { registry, client, vocabulary, policyPrograms } = context;
    const kind = versions.find((version) => registry.serves(version));
    if (kind === undefined || !writesStatus(registry)) return { close: () => Promise.resolve() };
    return reconcileMatching<CheckedPolicy>(context, {
      controller: this.name,
      kind,
      matters: () => true,
      async reconcile(object) {
        const { generation = 0 } = object.metadata;
        if (generation <= (object.status?.observedGeneration ?? 0)) return undefined;
        const policy = policyOf(object, policyPrograms);
        const expressionWarnings = await statusWarnings(policy, policyPrograms, registry, vocabulary);
        const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings };
        const status = { ...object.status, observedGeneration: generation, typeChecking };
        // The object has its stored version, which may not be served.
        const { apiVersion } = registry.require(kind);
        const written = { ...structuredClone(object), apiVersion, status };
        await client.update(written, "status");
        return undefined;
      },
    });
  },
};
