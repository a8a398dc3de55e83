import type { AdmissionPlugin } from "../admission/chain.ts";
import { namespaceLifecycle } from "../admission/plugins/namespace-lifecycle.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import { Namespace } from "../kinds/core/namespace.ts";
import type { NamespacePhases } from "../resources/namespace-phases.ts";
import type { Registry } from "../resources/registry.ts";
import { escalationCheck } from "./escalation-check.ts";
import { OptionsError, type ServerOptions } from "./options.ts";
import type { StoredRbac } from "./rbac.ts";

/** The plugins that the options turn on, in the order in which they run, and the checks that are always on. */
export function admissionPlugins(
  options: ServerOptions,
  registry: Registry,
  namespaces: NamespacePhases,
  policy: StoredRbac,
  authorizer: Authorizer,
): AdmissionPlugin[] {
  const { vocabulary, enabledAdmissionPlugins, disabledAdmissionPlugins } = options;
  const plugins = [namespaceLifecycle(namespaces, registry.require(Namespace), vocabulary)];
  for (const name of [...enabledAdmissionPlugins, ...disabledAdmissionPlugins]) {
    if (!plugins.some((plugin) => plugin.name === name)) {
      throw new OptionsError(`there is no admission plugin ${JSON.stringify(name)}`);
    }
  }
  const enabled = plugins.filter((plugin) => !disabledAdmissionPlugins.includes(plugin.name));
  return [...enabled, escalationCheck(policy, authorizer, vocabulary)];
}
