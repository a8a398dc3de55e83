import type { AdmissionPlugin } from "../../admission/admission-chain.ts";
import type { PluginConfiguration } from "../../admission/configuration.ts";
import { readImagePolicy } from "../../admission/plugins/image-policy-webhook/configuration.ts";
import { imagePolicyWebhook } from "../../admission/plugins/image-policy-webhook/image-policy-webhook.ts";
import { imageReviewVersion } from "../../admission/plugins/image-policy-webhook/image-review.ts";
import { ConfigurationFault, readClientConfiguration } from "../../remote/client-configuration.ts";
import { RemoteService, serviceLimits } from "../../remote/remote-service.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import type { AdmissionParts } from "../webhooks/admission-parts.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { runtimeConfigOf } from "../apis/registry.ts";

/**
 * Creates the plugin ImagePolicyWebhook, which calls the backend of its configuration.
 *
 * @throws {ConfigurationError} if the configuration can't be used.
 */
export async function configuredImagePolicy(
  options: ServerOptions,
  { webhooks }: AdmissionParts,
  configuration: PluginConfiguration | undefined,
): Promise<AdmissionPlugin> {
  const { vocabulary, clock, log } = options;
  const version = imageReviewVersion(vocabulary);
  if (!(await runtimeConfigOf(options)).enables(version)) {
    throw new ConfigurationError(
      `it needs --runtime-config=${version}=true: the version of its reviews is off`,
    );
  }
  const settings = await readImagePolicy(configuration);
  const backend = new RemoteService(await backendOf(settings.kubeConfigFile), clock, {
    ...serviceLimits,
    ...(settings.retryBackoffMs === 0 ? { attempts: 1 } : { backoffMs: settings.retryBackoffMs }),
  });
  webhooks.closeLater(backend);
  return imagePolicyWebhook({ settings, backend, vocabulary, clock, log });
}

async function backendOf(file: string) {
  const field = `imagePolicy.kubeConfigFile ${file}`;
  try {
    const configuration = await readClientConfiguration(file);
    if (configuration.server.protocol === "https:") return configuration;
  } catch (error) {
    if (!(error instanceof ConfigurationFault)) throw error;
    throw new ConfigurationError(`${field}: ${error.message}`);
  }
  throw new ConfigurationError(`${field}: cluster.server: must begin with https: the backend must use TLS`);
}
