import { groupVersion } from "../../vocabulary/names.ts";
import { applies, since } from "../../base/release-rows.ts";
import type { PolicyServices } from "../../admission/policies/policy-inputs.ts";
import type { AdmissionPlugin } from "../../admission/admission-chain.ts";
import type { PluginConfiguration } from "../../admission/configuration.ts";
import { checkBindings } from "../../admission/manifests/read-manifests.ts";
import type { StaticObjects } from "../../admission/manifests/static-objects.ts";
import {
  validatingAdmissionPolicy,
  type PolicyPluginParts,
} from "../../admission/plugins/validating-admission-policy.ts";
import type { StaticPolicies } from "../../admission/policies/followed-policies.ts";
import { bindingOf, policyOf, type PolicyBase } from "../../admission/policies/policy.ts";
import { ValidatingAdmissionPolicyBindingV1 } from "../../kinds/admissionregistration/validating-admission-policy-binding.ts";
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyV1,
  ValidatingAdmissionPolicyV1beta1,
} from "../../kinds/admissionregistration/validating-admission-policy.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import { struct } from "../../schema/meta.ts";
import { field, string } from "../../schema/types.ts";
import { featureGates } from "../features/enabled-features.ts";
import { type AdmissionParts, policyPrograms } from "../webhooks/admission-parts.ts";
import { staticManifests } from "./static-manifests.ts";
import type { ServerOptions } from "../options/server-options.ts";

const excludesReviews = applies(since("1.30"));

/** Dependencies of both plugins of policies. */
export type SharedParts = PolicyPluginParts & PolicyServices;

/**
 * Creates the plugin ValidatingAdmissionPolicy.
 *
 * @throws {ConfigurationError} if its configuration can't be used.
 */
export async function validatingPolicies(
  options: ServerOptions,
  parts: AdmissionParts,
  configuration: PluginConfiguration | undefined,
): Promise<AdmissionPlugin> {
  const plugin = "ValidatingAdmissionPolicy";
  const versions = [ValidatingAdmissionPolicy, ValidatingAdmissionPolicyV1beta1, ValidatingAdmissionPolicyV1];
  const shared = sharedParts(options, parts, plugin, versions);
  const kinds = [ValidatingAdmissionPolicyV1, ValidatingAdmissionPolicyBindingV1] as const;
  const compile = (object: ApiObject) => policyOf(object, shared.programs);
  const files = await staticPolicies(options, parts, configuration, { plugin, kinds, compile });
  return validatingAdmissionPolicy({ ...shared, observer: parts.policyObserver }, files);
}

/** How a plugin uses policies in files. */
interface PolicyUse<P extends PolicyBase> {
  readonly plugin: string;
  readonly kinds: readonly [policy: Kind, binding: Kind];
  readonly compile: (policy: ApiObject) => P;
}

const settingFields = {
  kind: field(undefined, string, "Name of the plugin, followed by `Configuration`."),
  apiVersion: field(undefined, string, "Version of the configuration format."),
  staticManifestsDir: field(undefined, string, "Folder with policies and bindings."),
};
const settingsType = struct("PolicyConfiguration", "Configuration of a policy plugin.", settingFields);

/**
 * Reads the policies in the files of a plugin's configuration.
 *
 * @throws {ConfigurationError} if the configuration or a file can't be used.
 */
export async function staticPolicies<P extends PolicyBase>(
  options: ServerOptions,
  parts: AdmissionParts,
  configuration: PluginConfiguration | undefined,
  { plugin, kinds, compile }: PolicyUse<P>,
): Promise<StaticObjects<StaticPolicies<P>> | undefined> {
  if (configuration === undefined) return undefined;
  const { value } = await configuration.read({
    type: settingsType,
    kind: `${plugin}Configuration`,
    apiVersions: [groupVersion(options.vocabulary.groupSuffix, "apiserver.config", "v1")],
  });
  return staticManifests(options, parts, value.staticManifestsDir, {
    plugin,
    kinds,
    compile(objects) {
      const [policies = [], bindings = []] = kinds.map(({ name }) => objects.get(name));
      checkBindings(policies, bindings);
      return { policies: policies.map(compile), bindings: bindings.map(bindingOf) };
    },
  });
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
    excludesReviews: excludesReviews(options),
    isServing: parts.webhooks.isServing,
  };
}
