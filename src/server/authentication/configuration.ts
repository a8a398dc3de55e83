import type { AuthenticationCounters } from "../../authentication/counters.ts";
import {
  readAuthenticationConfiguration,
  type AnonymousRule,
  type ConfiguredJwt,
} from "../../authentication/configuration/authentication-configuration.ts";
import { ConfiguredTokens } from "../../authentication/configuration/configured-tokens.ts";
import { OidcTokens } from "../../authentication/oidc/oidc-tokens.ts";
import { rarely } from "../../base/time/clock.ts";
import { stackOf } from "../../base/logger.ts";
import { RemoteClient } from "../../remote/remote-client.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { reloadedFile } from "../start/reloaded-file.ts";
import { closeAll, RetiredResources } from "../start/retired-resources.ts";
import { outageLogIntervalMs } from "../webhooks/remote-services.ts";
import { providerLimits, supportedAlgorithms } from "./oidc.ts";

/** The authentication of a configuration file, as it is at present. */
export interface ConfiguredAuthentication {
  readonly method: ConfiguredTokens;
  /** Undefined if the configuration doesn't decide which requests are anonymous. */
  anonymous(): AnonymousRule | undefined;
  close(): Promise<void>;
}

/**
 * Creates the authenticators of the file of `--authentication-config`, and again when the file changes. The issuers needn't be reachable
 * yet.
 *
 * @param ownIssuers issuers of service account tokens.
 * @throws {OptionsError} the file can't be used.
 */
export async function configuredAuthentication(
  options: ServerOptions,
  file: string,
  ownIssuers: readonly string[],
  counters: AuthenticationCounters,
): Promise<ConfiguredAuthentication> {
  const { vocabulary, clock, log } = options;
  const method = new ConfiguredTokens();
  let anonymous: AnonymousRule | undefined;
  let clients: readonly RemoteClient[] = [];
  const retired = new RetiredResources(options);
  const bug = (error: unknown): void =>
    log.error({ error: stackOf(error) }, "bug in the server, please report it");
  const use = async (bytes: Uint8Array): Promise<void> => {
    const read = await readAuthenticationConfiguration(bytes, vocabulary, ownIssuers);
    if (read.anonymous !== undefined && options.anonymousAuth !== undefined) {
      throw new ConfigurationError("anonymous: can't be used together with --anonymous-auth");
    }
    const issuers = read.jwt.map((jwt) => tokensOf(options, jwt, counters));
    method.replace(new Map(issuers.map(({ issuer, tokens }) => [issuer, tokens])));
    ({ anonymous } = read);
    for (const { tokens } of issuers) tokens.prepare().catch(bug);
    retired.add(clients);
    clients = issuers.map(({ client }) => client);
  };
  const { reloads } = counters;
  const watch = await reloadedFile(
    { clock, log },
    { flag: "--authentication-config", file, counters: reloads, use },
  );
  return {
    method,
    anonymous: () => anonymous,
    async close() {
      await watch.close();
      await retired.close();
      await closeAll(clients);
    },
  };
}

function tokensOf(
  { clock, log }: ServerOptions,
  { issuer, mapping }: ConfiguredJwt,
  counters: AuthenticationCounters,
): { readonly issuer: string; readonly tokens: OidcTokens; readonly client: RemoteClient } {
  const { url, discoveryUrl, audiences, authorities } = issuer;
  const client = new RemoteClient({ ca: authorities }, providerLimits, clock);
  const tokens = new OidcTokens({
    issuer: url,
    discoveryUrl,
    audiences,
    mapping,
    algorithms: supportedAlgorithms,
    client,
    clock,
    failed: rarely(clock, outageLogIntervalMs, (error) =>
      log.warn({ error: error.message, issuer: url }, "the OpenID provider can't be reached"),
    ),
    cacheWatcher: counters,
  });
  return { issuer: url, tokens, client };
}
