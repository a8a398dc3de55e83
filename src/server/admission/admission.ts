import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { AdmissionPlugin } from "../../admission/admission-chain.ts";
import { readAdmissionConfiguration, type PluginConfiguration } from "../../admission/configuration.ts";
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
import { mutatingWebhooks } from "../../admission/plugins/mutating-webhooks.ts";
import { validatingWebhooks } from "../../admission/plugins/validating-webhooks.ts";
import { namespaceLifecycle } from "../../admission/plugins/namespace-lifecycle.ts";
import { nodeRestriction } from "../../admission/plugins/node-restriction/node-restriction.ts";
import { stackOf } from "../../base/logger.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { whyUnreadable } from "../../base/unreadable.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import { escalationCheck } from "../../admission/plugins/escalation-check.ts";
import { validatingAdmissionPolicy } from "../../admission/plugins/validating-admission-policy.ts";
import { PolicyPrograms } from "../../admission/policies/environment.ts";
import { policyExpressionCheck } from "../../admission/policies/expression-check.ts";
import { policyParts } from "./policies.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { configuredImagePolicy } from "./image-policy.ts";
import { webhookServices } from "../webhooks/webhook-services.ts";
import type { AdmissionParts } from "../webhooks/admission-parts.ts";

/** A plugin that the options can turn on or off. */
interface Available {
  readonly name: string;
  readonly byDefault: boolean;
  /** Undefined for a plugin of the reference that this server doesn't have: its name is known, and it does nothing. */
  readonly make: MakePlugin | undefined;
}

type MakePlugin = (
  options: ServerOptions,
  parts: AdmissionParts,
  configuration: PluginConfiguration | undefined,
) => MaybePromise<AdmissionPlugin>;

const configurationFlag = "--admission-control-config-file";

const on = (name: string, make?: MakePlugin): Available => ({ name, byDefault: true, make });
const off = (name: string, make?: MakePlugin): Available => ({ name, byDefault: false, make });

/** In the order in which they run. */
const builtIn: readonly Available[] = [
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
  on("ServiceAccount", ({ vocabulary, clock }, { store, registry }) =>
    serviceAccount(new AccountReader(new ObjectReader(store, registry), clock), vocabulary, randomInt),
  ),
  off("NodeRestriction", ({ vocabulary }, { store, registry }) =>
    nodeRestriction(new ObjectReader(store, registry), vocabulary),
  ),
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
  on("CertificateSubjectRestriction", ({ vocabulary }) => certificateSubjectRestriction(vocabulary)),
  on("DefaultIngressClass", ({ vocabulary }, { facts }) => defaultIngressClass(facts, vocabulary)),
  off("DenyServiceExternalIPs", denyServiceExternalIps),
  on("MutatingAdmissionWebhook", async (...made) => mutatingWebhooks(await webhookServices(...made))),
  on("ValidatingAdmissionPolicy", (options, parts) => validatingAdmissionPolicy(policyParts(options, parts))),
  on("ValidatingAdmissionWebhook", async (...made) => validatingWebhooks(await webhookServices(...made))),
  on("ResourceQuota", quotas),
  off("AlwaysDeny", alwaysDeny),
];

/** Plugins of the embedding program stand where webhooks begin: before quotas, which are to count what is stored. */
const firstWebhook = builtIn.findIndex(({ name }) => name === "MutatingAdmissionWebhook");

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
  return podSecurity({ settings, facts, counters, vocabulary, pods: { store, registry, clock, failed } });
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

/** The plugins of the reference, in the order in which they run. */
export const admissionPluginNames: readonly {
  readonly name: string;
  readonly byDefault: boolean;
  /** Whether this server has it. */
  readonly present: boolean;
}[] = builtIn.map(({ name, byDefault, make }) => ({ name, byDefault, present: make !== undefined }));

/**
 * The plugins that the options turn on, in the order in which they run, and the checks that are always on.
 *
 * @throws {OptionsError} a plugin that doesn't exist, or a configuration that can't be used.
 */
export async function admissionPlugins(
  options: ServerOptions,
  parts: AdmissionParts,
  extensions: readonly AdmissionPlugin[],
): Promise<AdmissionPlugin[]> {
  const available = [
    ...builtIn.slice(0, firstWebhook),
    ...extensions.map((plugin) => on(plugin.name, () => plugin)),
    ...builtIn.slice(firstWebhook),
  ];
  const configurations = await configurationsOf(options);
  const plugins: AdmissionPlugin[] = [];
  for (const { name, make } of chosen(options, available)) {
    if (make === undefined) continue;
    try {
      plugins.push(await make(options, parts, configurations.get(name)));
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      throw new OptionsError(`${configurationFlag}: admission plugin ${name}: ${error.message}`);
    }
  }
  const { policy, authorizer, registry } = parts;
  const { vocabulary } = options;
  return [
    ...plugins,
    policyExpressionCheck(new PolicyPrograms(), registry, vocabulary),
    escalationCheck(policy, authorizer, vocabulary),
  ];
}

/** The plugins that the options turn on. */
function chosen(options: ServerOptions, available: readonly Available[]): readonly Available[] {
  const { enabledAdmissionPlugins: enabled, disabledAdmissionPlugins: disabled, log } = options;
  for (const name of enabled) assertAvailable(name, available, "--enable-admission-plugins");
  for (const name of disabled) assertAvailable(name, available, "--disable-admission-plugins");
  const plugins = available.filter(
    ({ name, byDefault }) => !disabled.includes(name) && (byDefault || enabled.includes(name)),
  );
  for (const { name, make } of plugins) {
    if (make !== undefined || !enabled.includes(name)) continue;
    log.warn(
      { plugin: name },
      "--enable-admission-plugins: this server does not have the plugin; it does nothing",
    );
  }
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

/** @param where begins the message. */
function assertAvailable(name: string, available: readonly Available[], where: string): void {
  if (available.some((one) => one.name === name)) return;
  const names = available.map((one) => one.name).toSorted();
  throw new OptionsError(
    `${where}: there is no admission plugin ${JSON.stringify(name)}; there are ${names.join(", ")}`,
  );
}

async function configurationsOf({
  admissionConfigurationFile: file,
  vocabulary,
  log,
}: ServerOptions): Promise<ReadonlyMap<string, PluginConfiguration>> {
  if (file === undefined) return new Map();
  try {
    const { value, warnings } = await readAdmissionConfiguration(file, readNamed, vocabulary);
    for (const warning of warnings) log.warn({ file }, `${configurationFlag}: ${warning}`);
    for (const name of value.keys()) assertAvailable(name, builtIn, `${configurationFlag} ${file}`);
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
