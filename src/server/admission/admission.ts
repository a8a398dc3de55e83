import { readFile } from "node:fs/promises";
import type { AdmissionPlugin } from "../../admission/admission-chain.ts";
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
import type { ServerOptions } from "../options/server-options.ts";
import type { AdmissionParts } from "../webhooks/admission-parts.ts";
import { policyPrograms } from "../webhooks/policy-programs.ts";
import { configurationFlag, pluginsOf, type PluginRow } from "./plugin-table.ts";

/**
 * Creates the plugins that the options enable, in the order in which they run, and the checks that can't be disabled.
 *
 * @param extensions the plugins of the embedding program
 * @throws {OptionsError} if an option names an unknown plugin, or a plugin can't use its configuration
 */
export async function admissionPlugins(
  options: ServerOptions,
  parts: AdmissionParts,
  extensions: readonly AdmissionPlugin[],
): Promise<AdmissionPlugin[]> {
  // Plugins of the embedding program run before webhooks, and so before quotas, which count the object as stored.
  const ofRelease = pluginsOf(options.release);
  const firstWebhook = ofRelease.findIndex(({ name }) => name === "MutatingAdmissionWebhook");
  const available = ofRelease.toSpliced(
    firstWebhook,
    0,
    ...extensions.map((plugin) => ({ name: plugin.name, byDefault: true, create: () => plugin })),
  );
  const configurations = await configurationsOf(options, ofRelease);
  const plugins: AdmissionPlugin[] = [];
  for (const { name, create } of enabledPlugins(options, available)) {
    try {
      plugins.push(await create(options, parts, configurations.get(name)));
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
