import type { PolicyParts } from "../../admission/plugins/validating-admission-policy.ts";
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyV1,
  ValidatingAdmissionPolicyV1beta1,
} from "../../kinds/admissionregistration/validating-admission-policy.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { KindContext } from "../../schema/context.ts";
import { featureGates } from "../features/enabled-features.ts";
import { policyPrograms } from "../webhooks/policy-programs.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** The parts of the server that policies depend on. */
interface PolicySources extends Pick<PolicyParts, "facts" | "registry" | "store" | "authorizer"> {
  readonly webhooks: Pick<PolicyParts, "isServing">;
  readonly policyObserver: PolicyParts["observer"];
}

/** Returns the dependencies of the plugin ValidatingAdmissionPolicy. */
export function policyParts(
  options: ServerOptions,
  { facts, registry, store, authorizer, webhooks: { isServing }, policyObserver: observer }: PolicySources,
): PolicyParts {
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
    contextOf,
    programs: policyPrograms(options),
    authorizer,
    namespaces: facts.namespaces,
    enabled: enabled("ValidatingAdmissionPolicy") && servesPolicies(registry),
    isServing,
    observer,
  };
}

/** Whether policies are served in any version. */
function servesPolicies(registry: PolicyParts["registry"]): boolean {
  const versions = [ValidatingAdmissionPolicy, ValidatingAdmissionPolicyV1beta1, ValidatingAdmissionPolicyV1];
  return versions.some((kind) => registry.serves(kind));
}
