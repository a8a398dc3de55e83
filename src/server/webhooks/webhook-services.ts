import { groupVersion } from "../../vocabulary/names.ts";
import { randomValues } from "../../base/random.ts";
import path from "node:path";
import type { PluginConfiguration } from "../../admission/configuration.ts";
import type { WebhookServices } from "../../admission/webhooks/services.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { ConnectionRules } from "../../http/backends/rules.ts";
import { addressRefused, isRefused } from "../../http/backends/addresses.ts";
import { Objects } from "../../http/connect/objects.ts";
import { serviceDestination } from "../../http/connect/services.ts";
import { ConfigurationFault } from "../../remote/client-configuration.ts";
import {
  noCredentials,
  readNamedCredentials,
  type NamedCredentials,
} from "../../remote/named-credentials.ts";
import type { RemoteAddress } from "../../remote/remote-client.ts";
import { WebhookCaller, type ResolveService } from "../../remote/webhook-caller.ts";
import type { ServicePort } from "../../remote/webhook-target.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { ConfigurationError, type ConfigurationForm } from "../../schema/configuration.ts";
import { struct } from "../../schema/meta.ts";
import { field, string, type Static } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { type AdmissionParts, policyPrograms } from "./admission-parts.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ServerOptions } from "../options/server-options.ts";

const WebhookAdmissionConfiguration = struct(
  "WebhookAdmissionConfiguration",
  "Configuration of a webhook plugin.",
  {
    kind: field(undefined, string, "WebhookAdmissionConfiguration."),
    apiVersion: field(undefined, string, "Version of the configuration format."),
    kubeConfigFile: field(undefined, string, "Kubeconfig with the credentials for calls of webhooks."),
    staticManifestsDir: field(undefined, string, "Folder with webhook configurations."),
  },
);

function formOf({ groupSuffix }: Vocabulary): ConfigurationForm<typeof WebhookAdmissionConfiguration> {
  return {
    type: WebhookAdmissionConfiguration,
    kind: "WebhookAdmissionConfiguration",
    apiVersions: [
      groupVersion(groupSuffix, "apiserver.config", "v1"),
      groupVersion(groupSuffix, "apiserver.config", "v1alpha1"),
    ],
  };
}

/** The configuration of a webhook plugin. */
export type WebhookSettings = Static<typeof WebhookAdmissionConfiguration>;

/**
 * Reads the configuration of a webhook plugin.
 *
 * @throws {ConfigurationError} it is invalid.
 */
export async function readWebhookSettings(
  { vocabulary, log }: ServerOptions,
  configuration: PluginConfiguration | undefined,
): Promise<WebhookSettings> {
  if (configuration === undefined) return {};
  const { value, warnings } = await configuration.read(formOf(vocabulary));
  for (const warning of warnings) log.warn({}, `--admission-control-config-file: ${warning}`);
  return value;
}

/**
 * Creates the dependencies of one webhook plugin, with its own connections and credentials.
 *
 * @throws {ConfigurationError} if the plugin's configuration can't be used.
 */
export async function webhookServices(
  options: ServerOptions,
  { facts, registry, webhooks, authorizer }: AdmissionParts,
  settings: WebhookSettings,
): Promise<WebhookServices> {
  const { vocabulary, clock, log, allowPrivileged } = options;
  const credentials = await credentialsOf(settings);
  const caller = new WebhookCaller(clock, webhooks.resolve, credentials, webhooks.tracer);
  webhooks.closeLater(caller);
  const { enabled } = featureGates(options);
  return {
    facts,
    registry,
    vocabulary,
    clock,
    caller,
    programs: policyPrograms(options),
    authorizer,
    log,
    observer: webhooks.observer,
    newUid: () => randomValues(options).newUid("admission reviews"),
    excludesReviews: enabled("ExcludeAdmissionWebhookVirtualResources"),
    isServing: webhooks.isServing,
    isIsolated: webhooks.isIsolated,
    contextOf: ({ target, user }) => ({
      vocabulary,
      enabled,
      forbidsPrivileged: !allowPrivileged,
      subresource: target.subresource,
      user,
      now: clock.now(),
    }),
  };
}

async function credentialsOf({ kubeConfigFile: file = "" }: WebhookSettings): Promise<NamedCredentials> {
  if (file === "") return noCredentials;
  if (!path.isAbsolute(file)) {
    throw new ConfigurationError(`kubeConfigFile must be an absolute path, but got ${JSON.stringify(file)}`);
  }
  try {
    return await readNamedCredentials(file);
  } catch (error) {
    if (!(error instanceof ConfigurationFault)) throw error;
    throw new ConfigurationError(`kubeConfigFile ${file}: ${error.message}`);
  }
}

/**
 * Returns a function that finds an address for a Service: one of its ready endpoints (pods of its namespace, as for
 * `proxy`), otherwise its cluster IP.
 *
 * @param engine called when the first connection is made.
 */
export function serviceResolver(
  engine: () => Engine,
  user: UserInfo,
  connections: ConnectionRules,
  below: (limit: number) => number,
): ResolveService {
  return async (service) => {
    const objects = new Objects(engine(), service.namespace, user);
    try {
      const { name, port } = service;
      const { host, port: targetPort } = await serviceDestination(
        objects,
        `${name}:${port}`,
        connections,
        below,
      );
      return { host, port: targetPort };
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== "ServiceUnavailable") throw error;
      const address = await clusterAddress(objects, service, connections);
      if (address === undefined) throw error;
      return address;
    }
  };
}

async function clusterAddress(
  objects: Objects,
  { name, port }: ServicePort,
  { targets }: ConnectionRules,
): Promise<RemoteAddress | undefined> {
  const { spec } = await objects.service(name);
  const host = spec?.clusterIP ?? "";
  const isServed = spec?.ports?.some((one) => one.port === port) ?? false;
  if (host === "" || host === "None" || spec?.type === "ExternalName" || !isServed) return undefined;
  if (isRefused(host, targets)) throw addressRefused(host);
  return { host, port };
}
