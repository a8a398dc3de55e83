import { randomValues } from "../../base/random.ts";
import type { AdmissionPlugin } from "../../admission/admission-chain.ts";
import type { PluginConfiguration } from "../../admission/configuration.ts";
import { ObjectReader } from "../../admission/object-reader.ts";
import { alwaysAdmit, alwaysDeny } from "../../admission/plugins/always.ts";
import { alwaysPullImages } from "../../admission/plugins/always-pull-images.ts";
import { defaultIngressClass } from "../../admission/plugins/default-ingress-class.ts";
import { defaultTolerationSeconds } from "../../admission/plugins/default-toleration-seconds.ts";
import { extendedResourceToleration } from "../../admission/plugins/extended-resource-toleration.ts";
import { limitRanger } from "../../admission/plugins/limit-ranger/limit-ranger.ts";
import { limitPodHardAntiAffinityTopology } from "../../admission/plugins/limit-pod-hard-anti-affinity-topology.ts";
import { namespaceAutoProvision, namespaceExists } from "../../admission/plugins/namespace-existence.ts";
import { ownerReferencesPermissionEnforcement } from "../../admission/plugins/owner-references-permission-enforcement.ts";
import { persistentVolumeLabel } from "../../admission/plugins/persistent-volume-label.ts";
import { podNodeSelector, readNodeSelectors } from "../../admission/plugins/pod-node-selector.ts";
import {
  podTolerationRestriction,
  readTolerationRestrictions,
} from "../../admission/plugins/pod-toleration-restriction.ts";
import { readPodSecurity } from "../../admission/plugins/pod-security/configuration.ts";
import { podSecurity } from "../../admission/plugins/pod-security/pod-security.ts";
import { priority } from "../../admission/plugins/priority.ts";
import { readLimitedResources } from "../../admission/plugins/resource-quota/configuration.ts";
import { QuotaTurns } from "../../admission/plugins/resource-quota/quota-turns.ts";
import { resourceQuota } from "../../admission/plugins/resource-quota/resource-quota.ts";
import { runtimeClass } from "../../admission/plugins/runtime-class.ts";
import { securityContextDeny } from "../../admission/plugins/security-context-deny.ts";
import { defaultStorageClass, persistentVolumeClaimResize } from "../../admission/plugins/storage-classes.ts";
import { AccountReader } from "../../admission/plugins/service-account/account-reader.ts";
import { serviceAccount } from "../../admission/plugins/service-account/service-account.ts";
import { storageObjectInUseProtection } from "../../admission/plugins/storage-object-in-use-protection.ts";
import { taintNodesByCondition } from "../../admission/plugins/taint-nodes-by-condition.ts";
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
} from "../../admission/plugins/certificate-requests.ts";
import { denyServiceExternalIps } from "../../admission/plugins/deny-service-external-ips.ts";
import { eventRateLimit, readEventLimits } from "../../admission/plugins/event-rate-limit.ts";
import { clusterTrustBundleAttest } from "../../admission/plugins/trust-bundles.ts";
import { namespaceLifecycle } from "../../admission/plugins/namespace-lifecycle.ts";
import { nodeRestriction } from "../../admission/plugins/node-restriction/node-restriction.ts";
import { type Released, rowOf, rowsIn, since } from "../../base/release-rows.ts";
import type { Release } from "../../base/releases.ts";
import { stackOf } from "../../base/logger.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import { validatingPolicies } from "./policies.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { configuredMutatingWebhooks, configuredValidatingWebhooks } from "./webhook-plugins.ts";
import { laterRoleOptions } from "../authorization/role-options.ts";
import type { AdmissionParts } from "../webhooks/admission-parts.ts";
import { readImagePolicy } from "../../admission/plugins/image-policy-webhook/configuration.ts";
import { imagePolicyWebhook } from "../../admission/plugins/image-policy-webhook/image-policy-webhook.ts";
import { imageReviewVersion } from "../../admission/plugins/image-policy-webhook/image-review.ts";
import { ConfigurationFault, readClientConfiguration } from "../../remote/client-configuration.ts";
import { RemoteService, serviceLimits } from "../../remote/remote-service.ts";
import { runtimeConfigOf } from "../apis/registry.ts";

/** A plugin that the options can enable and disable. */
export interface PluginRow {
  readonly name: string;
  /** Whether the plugin is enabled unless an option says otherwise. */
  readonly byDefault: boolean;
  /** Creates the plugin; throws a `ConfigurationError` for a configuration that it can't use. */
  readonly create: CreatePlugin;
}

type CreatePlugin = (
  options: ServerOptions,
  parts: AdmissionParts,
  configuration: PluginConfiguration | undefined,
) => MaybePromise<AdmissionPlugin>;

/** The flag that names the configurations of plugins. */
export const configurationFlag = "--admission-control-config-file";

const on = (name: string, create: CreatePlugin): PluginRow => ({ name, byDefault: true, create });
const off = (name: string, create: CreatePlugin): PluginRow => ({ name, byDefault: false, create });

/** The built-in plugins in the order in which they run. A new plugin gets a row here, and one in docs/admission.md. */
const pluginRows: readonly Released<PluginRow>[] = [
  off("AlwaysAdmit", alwaysAdmit),
  off("NamespaceAutoProvision", ({ vocabulary }, { namespaces, provision }) =>
    namespaceAutoProvision(namespaces, provision, vocabulary),
  ),
  on("NamespaceLifecycle", ({ vocabulary }, { namespaces, registry }) =>
    namespaceLifecycle(namespaces, registry.require(Namespace), vocabulary),
  ),
  off("NamespaceExists", (_, { namespaces }) => namespaceExists(namespaces)),
  off("SecurityContextDeny", securityContextDeny),
  off("LimitPodHardAntiAffinityTopology", ({ vocabulary }) => limitPodHardAntiAffinityTopology(vocabulary)),
  on("LimitRanger", ({ vocabulary }, { facts }) => limitRanger(facts, vocabulary)),
  on("ServiceAccount", (options, { store, registry }) => {
    const { vocabulary, clock } = options;
    const accounts = new AccountReader(new ObjectReader(store, registry), clock);
    const { randomInt } = randomValues(options);
    return serviceAccount(accounts, vocabulary, (below) => randomInt(below, "token volumes"));
  }),
  off("NodeRestriction", async (options, { store, registry, authorizer }) => {
    const { vocabulary } = options;
    const objects = new ObjectReader(store, registry);
    const later = laterRoleOptions(options);
    if (later === undefined) return nodeRestriction(objects, vocabulary);
    const { laterChecks } = await import("../../admission/plugins/node-restriction/release-checks.ts");
    return nodeRestriction(objects, vocabulary, laterChecks(later, vocabulary, authorizer));
  }),
  on("TaintNodesByCondition", ({ vocabulary }) => taintNodesByCondition(vocabulary)),
  off("AlwaysPullImages", alwaysPullImages),
  off("ImagePolicyWebhook", configuredImagePolicy),
  on("PodSecurity", podSecurityStandards),
  off("PodNodeSelector", nodeSelectors),
  on("Priority", (_, { facts }) => priority(facts)),
  on("DefaultTolerationSeconds", ({ vocabulary, tolerationSeconds }) =>
    defaultTolerationSeconds(tolerationSeconds, vocabulary),
  ),
  off("PodTolerationRestriction", tolerationRestrictions),
  off("EventRateLimit", eventLimits),
  off("ExtendedResourceToleration", ({ vocabulary }) => extendedResourceToleration(vocabulary)),
  off("PersistentVolumeLabel", ({ vocabulary }) => persistentVolumeLabel(vocabulary)),
  on("DefaultStorageClass", ({ vocabulary }, { facts }) => defaultStorageClass(facts, vocabulary)),
  on("StorageObjectInUseProtection", ({ vocabulary }) => storageObjectInUseProtection(vocabulary)),
  off("OwnerReferencesPermissionEnforcement", (_, { authorizer, registry }) =>
    ownerReferencesPermissionEnforcement(authorizer, registry),
  ),
  on("PersistentVolumeClaimResize", ({ vocabulary }, { facts }) =>
    persistentVolumeClaimResize(facts, vocabulary),
  ),
  on("RuntimeClass", ({ vocabulary }, { facts }) => runtimeClass(facts, vocabulary.behavior)),
  on("CertificateApproval", ({ vocabulary }, { authorizer }) => certificateApproval(authorizer, vocabulary)),
  on("CertificateSigning", ({ vocabulary }, { authorizer }) => certificateSigning(authorizer, vocabulary)),
  on("ClusterTrustBundleAttest", ({ vocabulary }, { authorizer }) =>
    clusterTrustBundleAttest(authorizer, vocabulary),
  ),
  on("CertificateSubjectRestriction", ({ vocabulary }) => certificateSubjectRestriction(vocabulary)),
  on("DefaultIngressClass", ({ vocabulary }, { facts }) => defaultIngressClass(facts, vocabulary)),
  off("DenyServiceExternalIPs", denyServiceExternalIps),
  since(
    "1.32",
    // Loaded by releases that have it.
    on("MutatingAdmissionPolicy", async (...input) => {
      const { mutatingPolicies } = await import("./mutating-policies.ts");
      return mutatingPolicies(...input);
    }),
  ),
  on("MutatingAdmissionWebhook", configuredMutatingWebhooks),
  on("ValidatingAdmissionPolicy", validatingPolicies),
  on("ValidatingAdmissionWebhook", configuredValidatingWebhooks),
  on("ResourceQuota", quotas),
  off("AlwaysDeny", alwaysDeny),
];

async function eventLimits(
  { vocabulary, clock, log }: ServerOptions,
  _: AdmissionParts,
  configuration: PluginConfiguration | undefined,
): Promise<AdmissionPlugin> {
  if (configuration === undefined) throw new ConfigurationError("it needs a configuration");
  const { value, warnings } = await readEventLimits(configuration, vocabulary);
  for (const warning of warnings) log.warn({ plugin: "EventRateLimit" }, `${configurationFlag}: ${warning}`);
  return eventRateLimit(value, clock);
}

async function nodeSelectors(
  { vocabulary }: ServerOptions,
  { facts }: AdmissionParts,
  configuration: PluginConfiguration | undefined,
): Promise<AdmissionPlugin> {
  return podNodeSelector(facts, await readNodeSelectors(configuration), vocabulary);
}

async function podSecurityStandards(
  { vocabulary, clock, log }: ServerOptions,
  { facts, store, registry, podSecurityCounters: counters }: AdmissionParts,
  configuration: PluginConfiguration | undefined,
): Promise<AdmissionPlugin> {
  const plugin = "PodSecurity";
  const { value: settings, warnings } = await readPodSecurity(configuration, vocabulary);
  for (const warning of warnings) log.warn({ plugin }, `${configurationFlag}: ${warning}`);
  const failed = (error: unknown) =>
    log.warn({ plugin, error: stackOf(error) }, "the pods of a namespace can't be read");
  const { release } = registry;
  return podSecurity({
    settings,
    facts,
    counters,
    vocabulary,
    release,
    pods: { store, registry, clock, failed },
  });
}

async function quotas(
  { vocabulary, clock, log }: ServerOptions,
  { store, quotas: index }: AdmissionParts,
  configuration: PluginConfiguration | undefined,
): Promise<AdmissionPlugin> {
  const { value: limited, warnings } = await readLimitedResources(configuration, vocabulary);
  for (const warning of warnings) log.warn({ plugin: "ResourceQuota" }, `${configurationFlag}: ${warning}`);
  return resourceQuota({ index, turns: new QuotaTurns(store, clock), limited });
}

async function tolerationRestrictions(
  { vocabulary, log }: ServerOptions,
  { facts }: AdmissionParts,
  configuration: PluginConfiguration | undefined,
): Promise<AdmissionPlugin> {
  const { value, warnings } = await readTolerationRestrictions(configuration, vocabulary);
  for (const warning of warnings) {
    log.warn({ plugin: "PodTolerationRestriction" }, `${configurationFlag}: ${warning}`);
  }
  return podTolerationRestriction(facts, value, vocabulary);
}

/** The built-in plugins of all releases, in the order in which they run. */
export const pluginTable: readonly PluginRow[] = pluginRows.map((row) => rowOf(row).value);

/** Returns the built-in plugins that a release has, in the order in which they run. */
export function pluginsOf(release: Release): readonly PluginRow[] {
  return rowsIn(pluginRows, { release });
}

/**
 * Creates the plugin ImagePolicyWebhook, which calls the backend of its configuration.
 *
 * @throws {ConfigurationError} if the configuration can't be used.
 */
async function configuredImagePolicy(
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
