import {
  assertSameTypes,
  readAuthorizationConfiguration,
  type ConfiguredAuthorizer,
} from "../../authorization/configuration/authorization-configuration.ts";
import type { ConfiguredWebhook } from "../../authorization/configuration/check-webhook.ts";
import { MatchCounters } from "../../authorization/configuration/match-counters.ts";
import { AuthorizationWebhook } from "../../authorization/webhook.ts";
import { rarely, type Timer } from "../../base/clock.ts";
import { stackOf } from "../../base/logger.ts";
import { ReloadCounters } from "../../base/reload-counters.ts";
import { authorization } from "../../kinds/groups.ts";
import { serviceLimits } from "../../remote/remote-service.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import { groupName } from "../../schema/kind.ts";
import { readOptionBytes } from "../options/option-files.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { reloadedFile } from "../start/reloaded-file.ts";
import { outageLogIntervalMs, remoteService, type ConfiguredService } from "../webhooks/remote-services.ts";

const authorizationConfigFlag = "--authorization-config";

/** Time after which the webhooks of a previous configuration are closed; requests to them may take 30 s each. */
const retiredMs = 120_000;

/**
 * Returns the options with the authorization modes of the file of `--authorization-config`; without one, the same options.
 *
 * @throws {OptionsError} the file can't be used.
 */
export async function withConfiguredModes(options: ServerOptions): Promise<ServerOptions> {
  const { authorizationConfigFile: file, vocabulary } = options;
  if (file === undefined) return options;
  const bytes = await readOptionBytes(authorizationConfigFlag, file);
  try {
    const authorizers = await readAuthorizationConfiguration(bytes, vocabulary);
    return { ...options, authorizationModes: [...new Set(authorizers.map(({ type }) => type))] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new OptionsError(`${authorizationConfigFlag} ${file}: ${error.message}`);
  }
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
  const services = new RetiringServices(options, matches);
  let running: readonly ConfiguredAuthorizer[] | undefined;
  const read = async (bytes: Uint8Array): Promise<void> => {
    const authorizers = await readAuthorizationConfiguration(bytes, vocabulary);
    if (running !== undefined) assertSameTypes(running, authorizers);
    const taken = authorizers.findIndex(
      ({ name, webhook }) => webhook !== undefined && reserved.includes(name),
    );
    if (taken !== -1) {
      throw new ConfigurationError(`authorizers[${taken}].name: is the name of an authorizer of the program`);
    }
    const webhooks = await services.replace(authorizers);
    running = authorizers;
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

/** The webhooks of the current configuration, and those of previous ones for a while. */
class RetiringServices {
  private current: readonly ConfiguredService[] = [];
  private readonly retired = new Map<readonly ConfiguredService[], Timer>();

  constructor(
    private readonly options: ServerOptions,
    private readonly matches: MatchCounters,
  ) {}

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
        const service = await this.open(
          webhook,
          `authorizers[${index}].webhook.connectionInfo.kubeConfigFile`,
        );
        opened.push(service);
        webhooks[name] = this.webhookOf(name, webhook, service);
      }
    } catch (error) {
      await closeAll(opened);
      throw error;
    }
    this.retire(this.current);
    this.current = opened;
    return webhooks;
  }

  async close(): Promise<void> {
    for (const timer of this.retired.values()) timer.cancel();
    await closeAll([...this.current, ...[...this.retired.keys()].flat()]);
  }

  private async open(
    { configFile, timeoutMs }: ConfiguredWebhook,
    field: string,
  ): Promise<ConfiguredService> {
    try {
      return await remoteService(this.options, field, configFile, { ...serviceLimits, timeoutMs });
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

  private retire(services: readonly ConfiguredService[]): void {
    if (services.length === 0) return;
    const { clock, log } = this.options;
    const bug = (error: unknown): void =>
      log.error({ error: stackOf(error) }, "bug in the server, please report it");
    const close = (): void => {
      this.retired.delete(services);
      closeAll(services).catch(bug);
    };
    this.retired.set(services, clock.setTimer(close, retiredMs));
  }
}

async function closeAll(services: readonly ConfiguredService[]): Promise<void> {
  await Promise.all(services.map((service) => service.close()));
}
