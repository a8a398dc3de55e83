import { readFile } from "node:fs/promises";
import type { AdmissionPlugin } from "../admission/chain.ts";
import { readAdmissionConfiguration, type PluginConfiguration } from "../admission/configuration.ts";
import { eventRateLimit, readEventLimits } from "../admission/plugins/event-rate-limit.ts";
import { namespaceLifecycle } from "../admission/plugins/namespace-lifecycle.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { whyUnreadable } from "../base/unreadable.ts";
import { Namespace } from "../kinds/core/namespace.ts";
import type { NamespacePhases } from "../resources/namespace-phases.ts";
import type { Registry } from "../resources/registry.ts";
import { ConfigurationError } from "../schema/configuration.ts";
import { escalationCheck } from "./escalation-check.ts";
import { OptionsError, type ServerOptions } from "./options.ts";
import type { StoredRbac } from "./rbac.ts";

/** What plugins are made of. */
export interface AdmissionParts {
  readonly registry: Registry;
  readonly namespaces: NamespacePhases;
  readonly policy: StoredRbac;
  readonly authorizer: Authorizer;
}

/** A plugin that the options can turn on or off. */
interface Available {
  readonly name: string;
  readonly byDefault: boolean;
  make(
    options: ServerOptions,
    parts: AdmissionParts,
    configuration: PluginConfiguration | undefined,
  ): MaybePromise<AdmissionPlugin>;
}

/** In the order in which they run. */
const available: readonly Available[] = [
  {
    name: "NamespaceLifecycle",
    byDefault: true,
    make: ({ vocabulary }, { namespaces, registry }) =>
      namespaceLifecycle(namespaces, registry.require(Namespace), vocabulary),
  },
  {
    name: "EventRateLimit",
    byDefault: false,
    make: async ({ vocabulary, clock, log }, _, configuration) => {
      if (configuration === undefined) throw new ConfigurationError("it needs a configuration");
      const { value, warnings } = await readEventLimits(configuration, vocabulary);
      for (const warning of warnings)
        log.warn({ plugin: "EventRateLimit" }, `${configurationFlag}: ${warning}`);
      return eventRateLimit(value, clock);
    },
  },
];

/** The plugins that there are, in the order in which they run, and whether each is on by default. */
export const admissionPluginNames: readonly Pick<Available, "name" | "byDefault">[] = available;

const configurationFlag = "--admission-control-config-file";

/**
 * The plugins that the options turn on, in the order in which they run, and the checks that are always on.
 *
 * @throws {OptionsError} a plugin that doesn't exist, or a configuration that can't be used.
 */
export async function admissionPlugins(
  options: ServerOptions,
  parts: AdmissionParts,
): Promise<AdmissionPlugin[]> {
  const { enabledAdmissionPlugins: on, disabledAdmissionPlugins: off, vocabulary } = options;
  for (const name of [...on, ...off]) assertAvailable(name);
  const configurations = await configurationsOf(options);
  const plugins: AdmissionPlugin[] = [];
  for (const { name, byDefault, make } of available) {
    if (off.includes(name) || !(byDefault || on.includes(name))) continue;
    try {
      plugins.push(await make(options, parts, configurations.get(name)));
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      throw new OptionsError(`${configurationFlag}: admission plugin ${name}: ${error.message}`);
    }
  }
  return [...plugins, escalationCheck(parts.policy, parts.authorizer, vocabulary)];
}

/** @param where begins the message. */
function assertAvailable(name: string, where = ""): void {
  if (available.some((one) => one.name === name)) return;
  throw new OptionsError(`${where}there is no admission plugin ${JSON.stringify(name)}`);
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
    for (const name of value.keys()) assertAvailable(name, `${configurationFlag} ${file}: `);
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
