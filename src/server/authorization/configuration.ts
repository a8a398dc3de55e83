import {
  assertSameTypes,
  readAuthorizationConfiguration,
  type ConfiguredAuthorizer,
} from "../../authorization/configuration/authorization-configuration.ts";
import type { ConfiguredWebhook } from "../../authorization/configuration/check-webhook.ts";
import { MatchCounters } from "../../authorization/configuration/match-counters.ts";
import { AuthorizationWebhook } from "../../authorization/webhook.ts";
import { rarely } from "../../base/time/clock.ts";
import { ReloadCounters } from "../../base/reload-counters.ts";
import { authorization } from "../../kinds/groups.ts";
import { inClusterConfiguration, ownPodCredentials } from "../../remote/in-cluster-configuration.ts";
import { serviceLimits } from "../../remote/remote-service.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import { groupName } from "../../schema/kind.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { reloadedFile, useConfigurationFile } from "../start/reloaded-file.ts";
import { closeAll, RetiredResources } from "../start/retired-resources.ts";
import {
  configuredService,
  outageLogIntervalMs,
  remoteService,
  readForOptions,
  type ConfiguredService,
} from "../webhooks/remote-services.ts";

const authorizationConfigFlag = "--authorization-config";

/**
 * Returns the options with the authorization modes of the file of `--authorization-config`; without one, the same options.
 *
 * @throws {OptionsError} the file can't be used.
 */
export async function withConfiguredModes(options: ServerOptions): Promise<ServerOptions> {
  const { authorizationConfigFile: file, vocabulary } = options;
  if (file === undefined) return options;
  const authorizers = await useConfigurationFile(authorizationConfigFlag, file, (bytes) =>
    readAuthorizationConfiguration(bytes, vocabulary),
  );
  return { ...options, authorizationModes: [...new Set(authorizers.map(({ type }) => type))] };
}

/** Counters of a configuration file, for metrics. */
export interface ConfigurationCounters {
  readonly reloads: ReloadCounters;
  readonly matches: MatchCounters;
}

/** The authorizers of a configuration: their names in order, and the webhooks by name. */
export interface ConfiguredOrder {
  readonly names: readonly string[];
  readonly webhooks: Readonly<Record<string, AuthorizationWebhook>>;
}

/**
 * Reads the file of `--authorization-config`, and again when it changes.
 *
 * @param options with the modes of {@link withConfiguredModes}.
 * @param reserved names of the embedding program's authorizers, which no webhook may have.
 * @param use receives the authorizers, at the start and after each change.
 * @throws {OptionsError} the file can't be used.
 */
export async function configuredAuthorizers(
  options: ServerOptions,
  file: string,
  reserved: readonly string[],
  use: (order: ConfiguredOrder) => void,
): Promise<ConfigurationCounters & { close(): Promise<void> }> {
  const { vocabulary, clock, log } = options;
  const reloads = new ReloadCounters();
  const matches = new MatchCounters();
  const services = new WebhookServices(options, matches);
  const read = async (bytes: Uint8Array): Promise<void> => {
    const authorizers = await readAuthorizationConfiguration(bytes, vocabulary);
    // The file may have changed since the modes were read.
    assertSameTypes(options.authorizationModes, authorizers);
    const conflict = authorizers.findIndex(
      ({ name, webhook }) => webhook !== undefined && reserved.includes(name),
    );
    if (conflict !== -1) {
      throw new ConfigurationError(
        `authorizers[${conflict}].name: is the name of an authorizer of the program`,
      );
    }
    const webhooks = await services.replace(authorizers);
    use({ names: authorizers.map(({ type, name }) => (type === "Webhook" ? name : type)), webhooks });
  };
  const reloaded = { flag: authorizationConfigFlag, file, counters: reloads, use: read };
  try {
    const watch = await reloadedFile({ clock, log }, reloaded);
    return {
      reloads,
      matches,
      async close() {
        await watch.close();
        await services.close();
      },
    };
  } catch (error) {
    await services.close();
    throw error;
  }
}

/** The webhooks of the current configuration, and those of previous ones until they are closed. */
class WebhookServices {
  private current: readonly ConfiguredService[] = [];
  private readonly retired: RetiredResources;

  constructor(
    private readonly options: ServerOptions,
    private readonly matches: MatchCounters,
  ) {
    this.retired = new RetiredResources(options);
  }

  /**
   * Creates the webhooks of a configuration; the previous ones are closed later.
   *
   * @throws {ConfigurationError} a client configuration can't be used; the previous webhooks stay.
   */
  async replace(authorizers: readonly ConfiguredAuthorizer[]): Promise<ConfiguredOrder["webhooks"]> {
    const opened: ConfiguredService[] = [];
    const webhooks: Record<string, AuthorizationWebhook> = {};
    try {
      for (const [index, { name, webhook }] of authorizers.entries()) {
        if (webhook === undefined) continue;
        const service = await this.open(webhook, `authorizers[${index}].webhook.connectionInfo`);
        opened.push(service);
        webhooks[name] = this.webhookOf(name, webhook, service);
      }
    } catch (error) {
      await closeAll(opened);
      throw error;
    }
    this.retired.add(this.current);
    this.current = opened;
    return webhooks;
  }

  async close(): Promise<void> {
    await this.retired.close();
    await closeAll(this.current);
  }

  private async open(
    { configFile, timeoutMs, version }: ConfiguredWebhook,
    field: string,
  ): Promise<ConfiguredService> {
    const limits = { ...serviceLimits, timeoutMs };
    try {
      if (configFile !== undefined)
        return await remoteService(this.options, `${field}.kubeConfigFile`, configFile, limits);
      const { vocabulary } = this.options;
      const name = `${field}.type InClusterConfig`;
      const resource = `/apis/${groupName(authorization, vocabulary)}/${version}/subjectaccessreviews`;
      const read = () =>
        readForOptions(name, () =>
          inClusterConfiguration(ownPodCredentials(vocabulary), vocabulary, resource),
        );
      return await configuredService(this.options, { name, read }, limits);
    } catch (error) {
      if (error instanceof OptionsError) throw new ConfigurationError(error.message, { cause: error });
      throw error;
    }
  }

  private webhookOf(
    name: string,
    { version, authorizedMs, unauthorizedMs, failureVerdict, matcher }: ConfiguredWebhook,
    service: ConfiguredService,
  ): AuthorizationWebhook {
    const { vocabulary, clock, log } = this.options;
    return new AuthorizationWebhook({
      ask: (review) => service.post(review),
      apiVersion: `${groupName(authorization, vocabulary)}/${version}`,
      authorizedMs,
      unauthorizedMs,
      failureVerdict,
      matcher,
      onUnmatched: (outcome) => this.matches.add(name, outcome),
      clock,
      failed: rarely(clock, outageLogIntervalMs, (error) =>
        log.warn({ error: error.message, authorizer: name }, "the authorization webhook can't be reached"),
      ),
    });
  }
}
