import { group, option } from "./option.ts";
import {
  boolean,
  file,
  milliseconds,
  oneOf,
  clientConfigurationFile,
  keyFiles,
  secretFile,
  text,
  texts,
} from "./value-type.ts";

const serviceAccounts = group(
  "Tokens of service accounts (spec: conventions 5.5).",
  {
    issuers: option(
      texts(),
      "service-account-issuer",
      "Accepted issuers of service account tokens; the first one issues new tokens. Default: the issuer of the vocabulary.",
      { default: [] },
    ),
    keyFiles: option(
      keyFiles,
      "service-account-key-file",
      "Files with RSA or ECDSA keys, public or private (PEM), that verify service account tokens. Default: --tls-private-key-file.",
      { default: [] },
    ),
    signingKeyFile: option(
      secretFile,
      "service-account-signing-key-file",
      "Private key that signs service account tokens (PEM). Default: the server generates one.",
    ),
    lookup: option(
      boolean,
      "service-account-lookup",
      "Reject a token from a Secret if the Secret or its service account no longer exists.",
      { default: true },
    ),
    maxExpirationMs: option(
      milliseconds,
      "service-account-max-token-expiration",
      "Longest lifetime of a requested token, at least 1h; 0s for no limit.",
      { default: 0 },
    ),
    extendExpiration: option(
      boolean,
      "service-account-extend-token-expiration",
      "Extend the lifetime of tokens injected into pods to a year, and count uses after the requested lifetime.",
      { default: true },
    ),
    jwksUri: option(
      text,
      "service-account-jwks-uri",
      "Published URL (https) of the keys that verify service account tokens, if it isn't below the issuer.",
    ),
  },
  { typeName: "ServiceAccountOptions" },
);

const tokenWebhook = group(
  "A webhook that authenticates tokens (spec: conventions 5.7).",
  {
    configFile: option(
      clientConfigurationFile,
      "authentication-token-webhook-config-file",
      "Client configuration of a webhook that authenticates the tokens that no other authenticator accepts.",
      { required: true },
    ),
    version: option(
      oneOf(["v1", "v1beta1"]),
      "authentication-token-webhook-version",
      "Version of the TokenReviews sent to that webhook: v1 or v1beta1.",
      { default: "v1beta1" },
    ),
    cacheMs: option(
      milliseconds,
      "authentication-token-webhook-cache-ttl",
      "How long responses of that webhook are cached.",
      { default: 2 * 60_000 },
    ),
  },
  { typeName: "TokenWebhookOptions", ignoredAlone: true },
);

const oidc = group(
  "An OpenID Connect provider whose ID tokens are accepted (spec: conventions 5.6).",
  {
    issuerUrl: option(
      text,
      "oidc-issuer-url",
      "https URL of the OpenID Connect provider whose ID tokens are accepted.",
      {
        required: true,
      },
    ),
    clientId: option(
      text,
      "oidc-client-id",
      "Client ID that must be in the audience of ID tokens; requires --oidc-issuer-url.",
      { required: true },
    ),
    usernameClaim: option(text, "oidc-username-claim", "Claim with the user name.", { default: "sub" }),
    usernamePrefix: option(
      text,
      "oidc-username-prefix",
      "Prefix of user names; - for none. Default: the issuer and #, but none for the claim email.",
    ),
    groupsClaim: option(text, "oidc-groups-claim", "Claim with the groups of the user. Default: no groups."),
    groupsPrefix: option(text, "oidc-groups-prefix", "Prefix of groups.", { default: "" }),
    requiredClaims: option(texts(), "oidc-required-claim", "KEY=VALUE claims that an ID token must have.", {
      default: [],
    }),
    caFile: option(
      file,
      "oidc-ca-file",
      "CA certificates of the provider (PEM). Default: those of the operating system.",
    ),
    signingAlgorithms: option(texts(), "oidc-signing-algs", "Accepted signing algorithms of ID tokens.", {
      default: ["RS256"],
    }),
  },
  { typeName: "OidcOptions" },
);

const proxy = group(
  "An authenticating proxy, which passes the user in request headers (spec: conventions 5.8).",
  {
    caFile: option(
      file,
      "requestheader-client-ca-file",
      "CA certificates of the proxies that authenticate users and pass them in headers (PEM).",
      { required: true },
    ),
    usernameHeaders: option(
      texts(),
      "requestheader-username-headers",
      "Headers with the user name; the first one with a value counts. Requires --requestheader-client-ca-file.",
      { required: true },
    ),
    uidHeaders: option(
      texts(),
      "requestheader-uid-headers",
      "Headers with the uid of the user; the first one with a value counts. X-Remote-Uid must be among them. Requires the feature gate RemoteRequestHeaderUID (on from release 1.33).",
      { default: [] },
    ),
    groupHeaders: option(texts(), "requestheader-group-headers", "Headers with the groups of the user.", {
      default: [],
    }),
    extraHeaderPrefixes: option(
      texts(),
      "requestheader-extra-headers-prefix",
      "Prefixes of headers with extra attributes of the user.",
      { default: [] },
    ),
    allowedNames: option(
      texts(),
      "requestheader-allowed-names",
      "Allowed common names of the proxies' certificates. Default: any.",
      { default: [] },
    ),
  },
  { typeName: "ProxyOptions" },
);

/** Authentication beside client certificates and static tokens. */
export const authentication = group(
  "Authentication beside client certificates and static tokens.",
  {
    configFile: option(
      file,
      "authentication-config",
      "Configuration with the trusted issuers of tokens and the anonymous requests. Reloaded when it changes.",
      { excludes: ["authentication.oidc"] },
    ),
    apiAudiences: option(
      texts(),
      "api-audiences",
      "Audiences of tokens for this server, comma separated. Default: the issuers.",
      { default: [] },
    ),
    serviceAccounts,
    bootstrapTokens: option(
      boolean,
      "enable-bootstrap-token-auth",
      "Accept bootstrap tokens, which are Secrets in the system namespace.",
      { default: false },
    ),
    tokenWebhook,
    oidc,
    proxy,
  },
  { typeName: "AuthenticationOptions" },
);
