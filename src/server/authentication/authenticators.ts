import { labelKey } from "../../vocabulary/names.ts";
import { anonymousByDefault } from "../../authentication/anonymous.ts";
import { BootstrapTokens } from "../../authentication/bootstrap-token.ts";
import type { Authenticator, Credentials } from "../../authentication/authenticator.ts";
import { SessionTokens } from "../../authentication/console/session-tokens.ts";
import type { ProviderSignIn } from "../../authentication/oidc/provider-sign-in.ts";
import { AuthenticatorChain } from "../../authentication/authenticator-chain.ts";
import { ClientCertificateAuthenticator } from "../../authentication/client-certificate.ts";
import { AuthenticationCounters } from "../../authentication/counters.ts";
import { LiveObjects } from "../../authentication/live-objects.ts";
import { ServiceAccountTokens } from "../../authentication/service-accounts/service-account-tokens.ts";
import { parseTokenFile, TokenFileAuthenticator, type TokenEntry } from "../../authentication/token-file.ts";
import { TokenWebhook } from "../../authentication/token-webhook.ts";
import { rarely } from "../../base/time/clock.ts";
import { applies, since } from "../../base/release-rows.ts";
import { authentication } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import { outageLogIntervalMs, remoteService } from "../webhooks/remote-services.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import type { TokenWebhookSettings } from "../options/settings-types.ts";
import { authenticatingProxy, identityHeaders } from "./authenticating-proxy.ts";
import type { ClientAuthorities } from "../certificates/serving.ts";
import { ClientCertificateVerifier } from "../../authentication/presented-certificate.ts";
import { configuredAuthentication, type ConfiguredAuthentication } from "./configuration.ts";
import { oidcTokens, type Oidc } from "./oidc.ts";
import { readOptionFile } from "../options/option-files.ts";
import { OptionsError } from "../options/options-error.ts";
import { stackOf } from "../../base/logger.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { ServiceAccountKeys } from "./service-account-tokens.ts";

/** The authentication of requests and its dependencies. */
export interface ServerAuthentication {
  readonly authenticator: Authenticator;
  readonly serviceAccounts: ServiceAccountKeys;
  readonly counters: AuthenticationCounters;
  /** Tokens of sessions of the console; undefined if it is off. */
  readonly sessions: SessionTokens | undefined;
  /** The sign-in of browsers with the OpenID provider; undefined without a provider. */
  readonly signIn: ProviderSignIn | undefined;
  /** Closes clients and file watches. */
  close(): Promise<void>;
}

/** The dependencies of the authentication methods. */
interface Parts extends Omit<ServerAuthentication, "authenticator" | "signIn" | "close"> {
  readonly oidc: Oidc | undefined;
  /** Static tokens of the server's own administrator. */
  readonly ownTokens: readonly TokenEntry[];
  readonly store: Store;
  readonly registry: Registry;
  /** Authenticators of the embedding program. */
  readonly extensions: readonly Authenticator[];
  /** Undefined if the server has no socket. */
  readonly authorities: ClientAuthorities | undefined;
  /** Registers something to close when the server stops. */
  readonly opened: (what: { close(): Promise<void> }) => void;
}

/**
 * Creates the authentication methods of the options, in order of cost.
 *
 * @throws {OptionsError} if the options of a method can't be used.
 */
export async function serverAuthentication(
  options: ServerOptions,
  parts: Pick<Parts, "ownTokens" | "store" | "registry" | "authorities" | "serviceAccounts" | "extensions">,
): Promise<ServerAuthentication> {
  const counters = new AuthenticationCounters();
  const { serviceAccounts } = parts;
  const sessions = options.console
    ? new SessionTokens(serviceAccounts.signingKey, options.clock, options.vocabulary)
    : undefined;
  const open: { close(): Promise<void> }[] = [];
  const opened: Parts["opened"] = (one) => void open.push(one);
  const close = async () => void (await Promise.all(open.map((one) => one.close())));
  try {
    const { oidc: provider } = options.authentication;
    const oidc = provider && (await oidcTokens(options, provider, counters));
    if (oidc !== undefined) opened(oidc.client);
    const authenticator = await authenticators(options, { ...parts, counters, sessions, opened, oidc });
    return { authenticator, serviceAccounts, counters, sessions, signIn: oidc?.signIn, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function authenticators(options: ServerOptions, parts: Parts): Promise<Authenticator> {
  const { ownTokens, sessions } = parts;
  const methods = certificateMethods(options, parts);
  if (ownTokens.length > 0) methods.push(new TokenFileAuthenticator(ownTokens));
  if (sessions !== undefined) methods.push(sessions);
  if (options.tokenAuthFile !== undefined) methods.push(await tokenFile(options, options.tokenAuthFile));
  const { vocabulary, clock, authentication: methodOptions } = options;
  const live = new LiveObjects(parts.store, parts.registry);
  methods.push(serviceAccountTokens(options, parts, live));
  if (methodOptions.bootstrapTokens) methods.push(new BootstrapTokens(vocabulary, live, clock));
  if (parts.oidc !== undefined) {
    const { method, signIn } = parts.oidc;
    methods.push(method);
    const prepared = [method.prepare(), ...(options.console ? [signIn.endpoints()] : [])];
    Promise.all(prepared).catch((error: unknown) => {
      options.log.error({ error: stackOf(error) }, "bug in the server, please report it");
    });
  }
  const configured = await configuration(options, parts);
  if (configured !== undefined) methods.push(configured.method);
  if (methodOptions.tokenWebhook !== undefined) {
    methods.push(await tokenWebhook(options, parts, methodOptions.tokenWebhook));
  }
  methods.push(...parts.extensions);
  const byDefault = options.anonymousAuth ?? anonymousByDefault(options.authorizationModes);
  const anonymous = configured === undefined ? byDefault : isAnonymous(configured, byDefault);
  return new AuthenticatorChain(methods, { vocabulary, anonymous });
}

async function configuration(
  options: ServerOptions,
  { serviceAccounts, counters, opened }: Parts,
): Promise<ConfiguredAuthentication | undefined> {
  const { configFile } = options.authentication;
  if (configFile === undefined) return undefined;
  const configured = await configuredAuthentication(options, configFile, serviceAccounts.issuers, counters);
  opened(configured);
  return configured;
}

/** Returns whether a request without credentials is anonymous by the configuration, or by default if that doesn't decide it. */
function isAnonymous(configured: ConfiguredAuthentication, byDefault: boolean) {
  return ({ path = "" }: Credentials): boolean => {
    const rule = configured.anonymous();
    if (rule === undefined) return byDefault;
    return rule.enabled && (rule.paths === undefined || rule.paths.has(path));
  };
}

/** First release in which users of client certificates have the identifier of the certificate. */
const identifiesCertificates = applies(since("1.32"));

/**
 * Methods that use the TLS client certificate. A certificate of an authenticating proxy doesn't identify the caller.
 */
function certificateMethods(options: ServerOptions, { authorities, counters }: Parts): Authenticator[] {
  const {
    clock,
    vocabulary,
    authentication: { proxy },
  } = options;
  if (authorities === undefined) return [];
  const { clients, proxies } = authorities;
  const hasIds = identifiesCertificates(options);
  const clientCertificates = new ClientCertificateAuthenticator(
    new ClientCertificateVerifier(clients, clock),
    {
      credentialIdKey: hasIds ? labelKey(vocabulary.domain, "credential-id", "authentication") : undefined,
      readsUid: featureGates(options).enabled("AllowParsingUserUIDFromCertAuth"),
      expires: (seconds) => counters.certificateExpires(seconds),
    },
  );
  const headers = identityHeaders(options);
  if (proxy === undefined || proxies === undefined || headers === undefined) return [clientCertificates];
  return [authenticatingProxy(headers, proxies, proxy, clock), clientCertificates];
}

function serviceAccountTokens(
  options: ServerOptions,
  { serviceAccounts, counters }: Parts,
  live: LiveObjects,
): Authenticator {
  const { vocabulary, clock, authentication } = options;
  const { enabled } = featureGates(options);
  return new ServiceAccountTokens({
    vocabulary,
    clock,
    issuers: serviceAccounts.issuers,
    legacyIssuer: serviceAccounts.legacyIssuer,
    ownAudiences: serviceAccounts.ownAudiences,
    keys: serviceAccounts.keys,
    lookup: authentication.serviceAccounts.lookup,
    live,
    features: {
      ids: enabled("ServiceAccountTokenJTI"),
      podNodes: enabled("ServiceAccountTokenPodNodeInfo"),
      nodes: enabled("ServiceAccountTokenNodeBindingValidation"),
    },
    onUse: (use) => counters.tokens[use]++,
    cacheWatcher: counters,
  });
}

async function tokenWebhook(
  options: ServerOptions,
  { serviceAccounts, counters, opened }: Parts,
  { configFile, version, cacheMs }: TokenWebhookSettings,
): Promise<Authenticator> {
  const { vocabulary, clock, log } = options;
  const service = await remoteService(options, "--authentication-token-webhook-config-file", configFile);
  opened(service);
  const message = "the token webhook can't be reached";
  return new TokenWebhook({
    ask: (review) => service.post(review),
    apiVersion: `${groupName(authentication, vocabulary)}/${version}`,
    ownAudiences: serviceAccounts.ownAudiences,
    cacheMs,
    clock,
    failed: rarely(clock, outageLogIntervalMs, (error) => log.warn({ error: error.message }, message)),
    refused: rarely(clock, outageLogIntervalMs, (error, remoteAddress) => {
      log.warn(
        { error: error.message, remoteAddress },
        "a token was refused before the token webhook was asked",
      );
    }),
    cacheWatcher: counters,
  });
}

async function tokenFile({ log }: ServerOptions, file: string): Promise<Authenticator> {
  const text = await readOptionFile("--token-auth-file", file);
  try {
    const { entries, warnings } = await parseTokenFile(text);
    for (const warning of warnings) log.warn({ file }, warning);
    return new TokenFileAuthenticator(entries);
  } catch (error) {
    throw new OptionsError(
      `--token-auth-file ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
