/** How callers are recognized beside certificates and static tokens (spec: conventions 5). */
export interface AuthenticationOptions {
  /** Who this server is to tokens (`--api-audiences`); empty: the issuers of service accounts' tokens. */
  readonly apiAudiences: readonly string[];
  readonly serviceAccounts: ServiceAccountOptions;
  /** Whether bootstrap tokens are believed (`--enable-bootstrap-token-auth`). */
  readonly bootstrapTokens: boolean;
  /** A service of others that is asked about tokens; undefined: none. */
  readonly tokenWebhook: TokenWebhookChoice | undefined;
  /** Whose ID tokens are believed; undefined: nobody's. */
  readonly oidc: OidcChoice | undefined;
  /** Whose headers say who somebody is; undefined: nobody's. */
  readonly proxy: ProxyChoice | undefined;
}

/** Proxies that authenticate for the server (spec: conventions 5.8). */
export interface ProxyChoice {
  /** PEM file of the authorities of the proxies' certificates. */
  readonly caFile: string;
  /** Headers of which the first with a value is the user's name. */
  readonly usernameHeaders: readonly string[];
  /** Headers whose values are groups. */
  readonly groupHeaders?: readonly string[] | undefined;
  /** What stands before the key of further facts, in headers' names. */
  readonly extraHeaderPrefixes?: readonly string[] | undefined;
  /** Common names that the proxies' certificates may have; all unless given. */
  readonly allowedNames?: readonly string[] | undefined;
}

/** An OpenID provider whose ID tokens are believed (spec: conventions 5.6). */
export interface OidcChoice {
  /** Its https URL. */
  readonly issuerUrl: string;
  /** The client for which tokens must be. */
  readonly clientId: string;
  /** Claim with the user's name; `sub` unless given. */
  readonly usernameClaim?: string | undefined;
  /** What is put before the name; `-` for nothing. Unless given, the issuer and `#`, but nothing before an email. */
  readonly usernamePrefix?: string | undefined;
  /** Claim with the groups; none unless given. */
  readonly groupsClaim?: string | undefined;
  readonly groupsPrefix?: string | undefined;
  /** Claims that must be there: `key=value`. */
  readonly requiredClaims?: readonly string[] | undefined;
  /** PEM file of the authorities of its certificate; those of this machine unless given. */
  readonly caFile?: string | undefined;
  /** Algorithms that signatures may have; RS256 unless given. */
  readonly signingAlgorithms?: readonly string[] | undefined;
}

/** A service that is asked about tokens (spec: conventions 5.7). */
export interface TokenWebhookChoice {
  /** Client configuration that says where it is. */
  readonly configFile: string;
  readonly version: "v1" | "v1beta1";
  /** How long answers are remembered, in milliseconds. */
  readonly cacheMs: number;
}

/** Tokens of service accounts (spec: conventions 5.5). */
export interface ServiceAccountOptions {
  /** The first issues new tokens, all are believed; empty: the vocabulary's. */
  readonly issuers: readonly string[];
  /** PEM files of the keys that verify tokens; without one, the key of `--tls-private-key-file` does. */
  readonly keyFiles: readonly string[];
  /** PEM file of the key that signs tokens; without it the server makes one. */
  readonly signingKeyFile: string | undefined;
  /** Whether tokens of Secrets end with their Secret. */
  readonly lookup: boolean;
  /** The longest time that a token may hold, in milliseconds; 0 for no limit. */
  readonly maxExpirationMs: number;
  /** Whether tokens that programs of pods get by themselves hold for a year, with their late use noted. */
  readonly extendExpiration: boolean;
  /** Where others fetch the keys, if not below the issuer. */
  readonly jwksUri: string | undefined;
}

/** Methods as they are unless options say otherwise. */
export const defaultAuthentication: AuthenticationOptions = {
  apiAudiences: [],
  serviceAccounts: {
    issuers: [],
    keyFiles: [],
    signingKeyFile: undefined,
    lookup: true,
    maxExpirationMs: 0,
    extendExpiration: true,
    jwksUri: undefined,
  },
  bootstrapTokens: false,
  tokenWebhook: undefined,
  oidc: undefined,
  proxy: undefined,
};

/** Those of the options that somebody chose. */
export interface AuthenticationChoices extends Partial<Omit<AuthenticationOptions, "serviceAccounts">> {
  readonly serviceAccounts?: Partial<ServiceAccountOptions>;
}

/** The options with what wasn't chosen as it is by default. */
export function authenticationWith({
  serviceAccounts,
  ...rest
}: AuthenticationChoices): AuthenticationOptions {
  return {
    ...defaultAuthentication,
    ...rest,
    serviceAccounts: { ...defaultAuthentication.serviceAccounts, ...serviceAccounts },
  };
}
