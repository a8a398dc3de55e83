import { labelKey } from "../../../vocabulary/names.ts";
import type { Release } from "../../../base/releases.ts";
import { andThen } from "../../../base/turns/maybe-promise.ts";
import { Namespace } from "../../../kinds/core/namespace.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin, AdmittedType } from "../../admission-chain.ts";
import { isOf } from "../../admitted-types.ts";
import type { AdmissionFacts } from "../../followed-objects.ts";
import type { PodSecuritySettings } from "./configuration.ts";
import { Evaluator } from "./evaluator.ts";
import type { PodSecurityCounters } from "./counters.ts";
import { namespaceCheck, type PodSource } from "./namespace-check.ts";
import { policyLabels, policyOf } from "./namespace-policy.ts";
import { PodCheck } from "./pod-check.ts";
import { templatedKinds } from "./pod-templates.ts";
import { declarationOf } from "../../../schema/kind.ts";

/** Dependencies of the plugin. */
export interface PodSecurityParts {
  readonly settings: PodSecuritySettings;
  readonly facts: AdmissionFacts;
  readonly counters: PodSecurityCounters;
  readonly vocabulary: Vocabulary;
  /** The release of the server; the reference release by default. */
  readonly release?: Release | undefined;
  readonly pods: PodSource;
}

/**
 * PodSecurity: rejects pods that violate the `enforce` level of their namespace, warns about violations of the `warn` level, and
 * records violations of the `audit` level in the audit log (spec: conventions 4.13). Objects with a pod template are never
 * rejected. Labels of the namespace define the levels.
 */
export function podSecurity(parts: PodSecurityParts): AdmissionPlugin {
  const { settings, facts, vocabulary } = parts;
  const prefix = labelKey(vocabulary.domain, "", "pod-security");
  const labels = policyLabels(prefix);
  const evaluator = new Evaluator(parts.release);
  const checkNamespace = namespaceCheck({ ...parts, labels, evaluator });
  const checkPods = new PodCheck({ ...parts, evaluator, prefix });
  const policies = facts.of(Namespace, ({ metadata }) =>
    policyOf(metadata.labels, labels, settings.defaults),
  );
  return {
    name: "PodSecurity",
    concerns: (operation, type) => (operation === "CREATE" || operation === "UPDATE") && isChecked(type),
    validate(request) {
      const { target } = request;
      if (declarationOf(target.resource.stored.kind) === Namespace) return checkNamespace(request);
      if (checkPods.isExempt(request)) return;
      return andThen(policies.get("", target.namespace), (policy) => checkPods.check(request, policy));
    },
  };
}

function isChecked(type: AdmittedType): boolean {
  const { resource, subresource } = type;
  if (declarationOf(resource.stored.kind) === Pod)
    return subresource === "" || subresource === "ephemeralcontainers";
  return [Namespace, ...templatedKinds].some((kind) => isOf(type, kind));
}
