import { anonymousByDefault } from "../authentication/anonymous.ts";
import { BootstrapTokens } from "../authentication/bootstrap-token.ts";
import type { Authenticator } from "../authentication/authenticator.ts";
import { AuthenticatorChain } from "../authentication/chain.ts";
import { ClientCertificateAuthenticator } from "../authentication/client-certificate.ts";
import { AuthenticationFigures } from "../authentication/figures.ts";
import { LiveObjects } from "../authentication/live-objects.ts";
import { ServiceAccountTokens } from "../authentication/service-accounts/service-account-tokens.ts";
import { parseTokenFile, TokenFileAuthenticator, type TokenEntry } from "../authentication/token-file.ts";
import type { Registry } from "../resources/registry.ts";
import type { Store } from "../storage/store.ts";
import { defaultAuthentication } from "./authentication-options.ts";
import { readOptionFile } from "./option-files.ts";
import { OptionsError, type ServerOptions } from "./options.ts";
import { serviceAccountKeys, type ServiceAccountKeys } from "./service-account-tokens.ts";

/** What recognizes callers, and what it works with. */
export interface ServerAuthentication {
  readonly authenticator: Authenticator;
  readonly serviceAccounts: ServiceAccountKeys;
  readonly figures: AuthenticationFigures;
}

/** What the methods work with. */
interface Parts extends Omit<ServerAuthentication, "authenticator"> {
  /** Static tokens of the server's own administrator. */
  readonly ownTokens: readonly TokenEntry[];
  readonly store: Store;
  readonly registry: Registry;
}

/**
 * The methods that the options ask for, the cheapest first.
 *
 * @throws {OptionsError}
 */
export async function serverAuthentication(
  options: ServerOptions,
  given: Pick<Parts, "ownTokens" | "store" | "registry">,
): Promise<ServerAuthentication> {
  const figures = new AuthenticationFigures();
  const serviceAccounts = await serviceAccountKeys(options);
  const authenticator = await authenticators(options, { ...given, serviceAccounts, figures });
  return { authenticator, serviceAccounts, figures };
}

async function authenticators(options: ServerOptions, parts: Parts): Promise<Authenticator> {
  const { ownTokens } = parts;
  const methods: Authenticator[] = [new ClientCertificateAuthenticator(options.clock)];
  if (ownTokens.length > 0) methods.push(new TokenFileAuthenticator(ownTokens));
  if (options.tokenAuthFile !== undefined) methods.push(await tokenFile(options, options.tokenAuthFile));
  const { vocabulary, clock, authentication = defaultAuthentication } = options;
  const live = new LiveObjects(parts.store, parts.registry);
  methods.push(serviceAccountTokens(options, parts, live));
  if (authentication.bootstrapTokens) methods.push(new BootstrapTokens(vocabulary, live, clock));
  const anonymous = options.anonymousAuth ?? anonymousByDefault(options.authorizationModes);
  return new AuthenticatorChain(methods, { vocabulary, anonymous });
}

function serviceAccountTokens(
  { vocabulary, clock, authentication = defaultAuthentication }: ServerOptions,
  { serviceAccounts, figures }: Parts,
  live: LiveObjects,
): Authenticator {
  return new ServiceAccountTokens({
    vocabulary,
    clock,
    issuers: serviceAccounts.issuers,
    ownAudiences: serviceAccounts.ownAudiences,
    keys: serviceAccounts.keys,
    lookup: authentication.serviceAccounts.lookup,
    live,
    used: (use) => figures.tokens[use]++,
    cacheWatcher: figures,
  });
}

async function tokenFile({ log }: ServerOptions, file: string): Promise<Authenticator> {
  const text = await readOptionFile("--token-auth-file", file);
  try {
    const { entries, warnings } = parseTokenFile(text);
    for (const warning of warnings) log.warn({ file }, warning);
    return new TokenFileAuthenticator(entries);
  } catch (error) {
    throw new OptionsError(
      `--token-auth-file ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
