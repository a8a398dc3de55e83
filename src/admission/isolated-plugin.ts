import type { AdmissionPlugin } from "./admission-chain.ts";
import type { AdmissionRequest } from "../resources/engine/engine.ts";

/**
 * Returns a plugin for writes that must have no effects outside of their store: webhooks see a dry run, and a plugin with side effects isn't
 * called; a warning says so.
 *
 * @param callsWebhooks whether the plugin calls webhooks.
 */
export function isolatedPlugin(plugin: AdmissionPlugin, callsWebhooks: boolean): AdmissionPlugin {
  const { name, sideEffects, mutate, validate } = plugin;
  const skip = ({ effects }: AdmissionRequest): void =>
    effects.warn(
      `the admission plugin ${JSON.stringify(name)} was not called: it has side effects, and the workspace is isolated`,
    );
  const dryRun = (request: AdmissionRequest): AdmissionRequest => ({ ...request, dryRun: true });
  if (sideEffects === true)
    return {
      name,
      concerns: (...type) => plugin.concerns(...type),
      ...(plugin.skips === undefined ? {} : { skips: (request) => plugin.skips!(request) }),
      // Once for each write.
      ...(validate === undefined ? { mutate: skip } : { validate: skip }),
    };
  if (!callsWebhooks) return plugin;
  return {
    ...plugin,
    ...(mutate === undefined ? {} : { mutate: (request) => mutate.call(plugin, dryRun(request)) }),
    ...(validate === undefined ? {} : { validate: (request) => validate.call(plugin, dryRun(request)) }),
  };
}
