import { AdmissionChain, type AdmissionPlugin } from "../../admission/admission-chain.ts";
import { isolatedPlugin } from "../../admission/isolated-plugin.ts";
import { AdmissionFacts } from "../../admission/followed-objects.ts";
import { PodSecurityCounters } from "../../admission/plugins/pod-security/counters.ts";
import { QuotaIndex } from "../../admission/plugins/resource-quota/quota-index.ts";
import { DeferredPolicyObserver } from "../../admission/policies/policy-observer.ts";
import { showPolicies } from "../../http/metrics/policy-metrics.ts";
import { showManifests } from "../../http/metrics/manifest-metrics.ts";
import { DeferredWebhookObserver } from "../../admission/webhooks/observer.ts";
import { randomValues } from "../../base/random.ts";
import { stackOf } from "../../base/logger.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { createIfAbsent, namespaceNamed } from "../../controllers/bootstrap/default-objects.ts";
import type { ConnectionRules } from "../../http/backends/rules.ts";
import { admissionObserver } from "../../http/metrics/admission-metrics.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import { showPodSecurity } from "../../http/metrics/pod-security-metrics.ts";
import { showWebhooks } from "../../http/metrics/webhook-metrics.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { type AdmissionParts, policyPrograms } from "../webhooks/admission-parts.ts";
import type { Lifecycle } from "../health/health-checks.ts";
import type { ServerTracing } from "../tracing/tracing.ts";
import type { Opened } from "../start/opened.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { serviceResolver } from "../webhooks/webhook-services.ts";
import { readFile } from "node:fs/promises";
import { ObjectReader } from "../../admission/object-reader.ts";
import { readAdmissionConfiguration, type PluginConfiguration } from "../../admission/configuration.ts";
import { defaultRelease } from "../../base/releases.ts";
import { whyUnreadable } from "../../base/files/unreadable.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import { claimStatusPermissions } from "../../admission/plugins/claim-status-permissions.ts";
import { deviceAdminAccess } from "../../admission/plugins/device-admin-access.ts";
import { podCertificateSigning } from "../../admission/plugins/trust-bundles.ts";
import { escalationCheck } from "../../admission/plugins/escalation-check.ts";
import { parameterAccessCheck } from "../../admission/policies/parameter-access-check.ts";
import { policyExpressionCheck } from "../../admission/policies/expression-check.ts";
import { featureGates } from "../features/enabled-features.ts";
import { OptionsError } from "../options/options-error.ts";
import { configurationFlag, pluginsOf, type PluginRow } from "./plugin-table.ts";

/** The parts of the server that admission depends on. */
export interface AdmissionPieces extends Pick<
  AdmissionParts,
  "registry" | "store" | "namespaces" | "policy" | "authorizer"
> {
  readonly extensions: { readonly admissionPlugins: readonly AdmissionPlugin[] };
  readonly connections: ConnectionRules;
  readonly life: Lifecycle;
  readonly tracing: ServerTracing | undefined;
  readonly opened: Opened;
  /** Returns the engine, which is created after admission; called from the first request on. */
  readonly engine: () => Engine;
  readonly client: () => Client;
  /** Whether webhooks get the credentials and static manifests of the configuration; those of workspaces don't. */
  readonly configuresWebhooks?: boolean | undefined;
  /** Whether writes have no effects outside of the store; see {@link isolatedPlugin}. */
  readonly isIsolated?: boolean | undefined;
}

/** The admission of a server. */
export interface AdmissionSetUp {
  readonly chain: AdmissionChain;
  readonly quotas: QuotaIndex;
  /** Registers the metrics of admission. */
  readonly show: (metrics: MetricSet) => void;
}

/**
 * Creates the admission chain with the plugins that the options enable.
 *
 * @param user the identity with which the server looks up services.
 * @throws {OptionsError} if the options of a plugin can't be used.
 */
export async function setUpAdmission(
  options: ServerOptions,
  user: UserInfo,
  pieces: AdmissionPieces,
): Promise<AdmissionSetUp> {
  const { registry, store, namespaces, policy, authorizer, opened, life } = pieces;
  const close = (one: { close(): unknown }) => one.close();
  const failed = (error: unknown) =>
    options.log.warn({ error: stackOf(error) }, "objects that admission reads can't be loaded; retrying");
  const sources = { store, clock: options.clock, failed };
  const facts = opened.add(new AdmissionFacts(sources, options.vocabulary), close);
  const quotas = opened.add(new QuotaIndex(sources, registry), close);
  const podSecurityCounters = new PodSecurityCounters(registry.release);
  const webhookObserver = new DeferredWebhookObserver();
  const policyObserver = new DeferredPolicyObserver();
  const parts: AdmissionParts = {
    registry,
    store,
    namespaces,
    policy,
    authorizer,
    facts,
    quotas,
    provision: (name) => createIfAbsent(pieces.client(), namespaceNamed(name)),
    podSecurityCounters,
    policyObserver,
    manifests: [],
    webhooks: {
      resolve: serviceResolver(pieces.engine, user, pieces.connections, randomValues(options).randomInt),
      observer: webhookObserver,
      isServing: () => life.synced,
      isIsolated: pieces.isIsolated === true,
      tracer: pieces.tracing?.tracer,
      closeLater: (closable) => void opened.add(closable, close),
    },
  };
  const plugins = await admissionPlugins(options, parts, pieces);
  const chain = new AdmissionChain(
    pieces.isIsolated === true
      ? plugins.map((one) => isolatedPlugin(one, webhookPlugins.has(one.name)))
      : plugins,
  );
  if (pieces.tracing !== undefined) chain.traceWith(pieces.tracing.tracer);
  return {
    chain,
    quotas,
    show(metrics) {
      chain.measure(admissionObserver(metrics));
      showPodSecurity(metrics, podSecurityCounters);
      showWebhooks(metrics, webhookObserver);
      showPolicies(metrics, policyObserver);
      if (parts.manifests.length > 0) showManifests(metrics, parts.manifests);
    },
  };
}

/**
 * Creates the plugins that the options enable, in the order in which they run, and the checks that can't be disabled.
 *
 * @param pieces has the plugins of the embedding program.
 * @throws {OptionsError} if an option names an unknown plugin, or a plugin can't use its configuration
 */
async function admissionPlugins(
  options: ServerOptions,
  parts: AdmissionParts,
  { extensions, configuresWebhooks = true }: Pick<AdmissionPieces, "extensions" | "configuresWebhooks">,
): Promise<AdmissionPlugin[]> {
  // Plugins of the embedding program run before webhooks, and so before quotas, which count the object as stored.
  const ofRelease = pluginsOf(options.release);
  const firstWebhook = ofRelease.findIndex(({ name }) => name === "MutatingAdmissionWebhook");
  const available = ofRelease.toSpliced(
    firstWebhook,
    0,
    ...extensions.admissionPlugins.map((plugin) => ({
      name: plugin.name,
      byDefault: true,
      create: () => plugin,
    })),
  );
  const configurations = await configurationsOf(options, ofRelease);
  const plugins: AdmissionPlugin[] = [];
  for (const { name, create } of enabledPlugins(options, available)) {
    try {
      const isConfigured = configuresWebhooks || !webhookPlugins.has(name);
      plugins.push(await create(options, parts, isConfigured ? configurations.get(name) : undefined));
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      throw new OptionsError(`${configurationFlag}: admission plugin ${name}: ${error.message}`);
    }
  }
  const { policy, authorizer, registry, facts, store } = parts;
  const { vocabulary } = options;
  const checksParts = featureGates(options).enabled("DRAResourceClaimGranularStatusAuthorization");
  const laterChecks =
    registry.release === defaultRelease
      ? []
      : [
          deviceAdminAccess(() => facts.namespaces, vocabulary),
          ...(checksParts ? [claimStatusPermissions(authorizer, vocabulary)] : []),
          podCertificateSigning(authorizer, vocabulary),
        ];
  return [
    ...plugins,
    policyExpressionCheck(policyPrograms(options), registry, vocabulary),
    parameterAccessCheck(authorizer, registry, new ObjectReader(store, registry)),
    ...laterChecks,
    escalationCheck(policy, authorizer, vocabulary),
  ];
}

/** The plugins that call webhooks of stored configurations. */
const webhookPlugins: ReadonlySet<string> = new Set([
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionWebhook",
]);

/** Returns the plugins that the options enable. */
function enabledPlugins(options: ServerOptions, available: readonly PluginRow[]): readonly PluginRow[] {
  const { enabledAdmissionPlugins: enabled, disabledAdmissionPlugins: disabled } = options;
  for (const name of enabled) assertAvailable(name, available, "--enable-admission-plugins");
  for (const name of disabled) assertAvailable(name, available, "--disable-admission-plugins");
  const plugins = available.filter(
    ({ name, byDefault }) => !disabled.includes(name) && (byDefault || enabled.includes(name)),
  );
  if (
    options.authorizationModes.includes("Node") &&
    !plugins.some(({ name }) => name === "NodeRestriction")
  ) {
    throw new OptionsError(
      "--authorization-mode Node needs --enable-admission-plugins=NodeRestriction: " +
        "without it, every node could read every Secret",
    );
  }
  return plugins;
}

/** @param where names the option or file in the message. */
function assertAvailable(name: string, available: readonly PluginRow[], where: string): void {
  if (available.some((one) => one.name === name)) return;
  const names = available.map((one) => one.name).toSorted();
  throw new OptionsError(
    `${where}: unknown admission plugin ${JSON.stringify(name)}; allowed are ${names.join(", ")}`,
  );
}

async function configurationsOf(
  { admissionConfigurationFile: file, vocabulary, log }: ServerOptions,
  available: readonly PluginRow[],
): Promise<ReadonlyMap<string, PluginConfiguration>> {
  if (file === undefined) return new Map();
  try {
    const { value, warnings } = await readAdmissionConfiguration(file, readNamed, vocabulary);
    for (const warning of warnings) log.warn({ file }, `${configurationFlag}: ${warning}`);
    for (const name of value.keys()) assertAvailable(name, available, `${configurationFlag} ${file}`);
    return value;
  } catch (error) {
    if (error instanceof ConfigurationError) {
      throw new OptionsError(`${configurationFlag} ${file}: ${error.message}`);
    }
    throw error;
  }
}

async function readNamed(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new ConfigurationError(`${file}: ${whyUnreadable(error)}`, { cause: error });
  }
}
