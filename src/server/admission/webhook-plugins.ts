import type { AdmissionPlugin } from "../../admission/admission-chain.ts";
import type { PluginConfiguration } from "../../admission/configuration.ts";
import { mutatingWebhooks } from "../../admission/plugins/mutating-webhooks.ts";
import { validatingWebhooks } from "../../admission/plugins/validating-webhooks.ts";
import { configurationOf } from "../../admission/webhooks/followed-webhooks.ts";
import { MutatingWebhookConfiguration } from "../../kinds/admissionregistration/mutating-webhook-configuration.ts";
import { ValidatingWebhookConfiguration } from "../../kinds/admissionregistration/validating-webhook-configuration.ts";
import type { Kind } from "../../schema/kind.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { type AdmissionParts, policyPrograms } from "../webhooks/admission-parts.ts";
import { readWebhookSettings, webhookServices } from "../webhooks/webhook-services.ts";
import { staticManifests } from "./static-manifests.ts";

type PluginInput = readonly [
  options: ServerOptions,
  parts: AdmissionParts,
  configuration: PluginConfiguration | undefined,
];

/**
 * Creates the plugin MutatingAdmissionWebhook.
 *
 * @throws {ConfigurationError} if its configuration can't be used.
 */
export async function configuredMutatingWebhooks(...input: PluginInput): Promise<AdmissionPlugin> {
  const { services, files } = await readInput(
    "MutatingAdmissionWebhook",
    MutatingWebhookConfiguration,
    input,
  );
  return mutatingWebhooks(services, files);
}

/**
 * Creates the plugin ValidatingAdmissionWebhook.
 *
 * @throws {ConfigurationError} if its configuration can't be used.
 */
export async function configuredValidatingWebhooks(...input: PluginInput): Promise<AdmissionPlugin> {
  const kind = ValidatingWebhookConfiguration;
  const { services, files } = await readInput("ValidatingAdmissionWebhook", kind, input);
  return validatingWebhooks(services, files);
}

/** Reads the configuration of a plugin and creates its dependencies. */
async function readInput(plugin: string, kind: Kind, [options, parts, configuration]: PluginInput) {
  const settings = await readWebhookSettings(options, configuration);
  const services = await webhookServices(options, parts, settings);
  const programs = policyPrograms(options);
  const files = await staticManifests(options, parts, settings.staticManifestsDir, {
    plugin,
    kinds: [kind],
    compile: (objects) => (objects.get(kind.name) ?? []).map((one) => configurationOf(one, programs)),
  });
  return { services, files };
}
