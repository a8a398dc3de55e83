import {
  defaultAuthentication,
  type AuthenticationOptions,
  type OidcChoice,
  type ProxyChoice,
  type TokenWebhookChoice,
} from "../server/authentication-options.ts";
import { durationText, flag, type Flag } from "./flag.ts";
import { UsageError, type FlagReader } from "./flag-reader.ts";

const { serviceAccounts, bootstrapTokens } = defaultAuthentication;

/** The flags of how callers are recognized (spec: conventions 5). */
export const authenticationFlags: readonly Flag[] = [
  flag(
    "api-audiences",
    "list",
    "",
    "Names under which tokens may mean this server, comma separated; by default the issuers.",
  ),
  flag(
    "service-account-issuer",
    "list",
    "",
    "Issuers of service accounts' tokens that are believed; the first one issues. By default the vocabulary's.",
  ),
  flag(
    "service-account-key-file",
    "list",
    "",
    "Files of RSA and ECDSA keys, public or private (PEM), that verify service accounts' tokens; by default --tls-private-key-file.",
  ),
  flag(
    "service-account-signing-key-file",
    "file",
    "",
    "Private key that signs service accounts' tokens (PEM); without it the server makes one.",
  ),
  flag(
    "service-account-lookup",
    "boolean",
    String(serviceAccounts.lookup),
    "Refuse tokens of Secrets whose Secret or service account is gone.",
  ),
  flag(
    "service-account-max-token-expiration",
    "duration",
    durationText(serviceAccounts.maxExpirationMs),
    "The longest time that a requested token holds, at least 1h; 0s for no limit.",
  ),
  flag(
    "service-account-extend-token-expiration",
    "boolean",
    String(serviceAccounts.extendExpiration),
    "Let the tokens that pods get by themselves hold for a year, and count their use after the hour they were asked for.",
  ),
  flag(
    "service-account-jwks-uri",
    "string",
    "",
    "Where others fetch the keys of service accounts' tokens, if not below the issuer (https).",
  ),
  flag(
    "enable-bootstrap-token-auth",
    "boolean",
    String(bootstrapTokens),
    "Believe the bootstrap tokens that lie in Secrets of the system's namespace.",
  ),
  flag(
    "authentication-token-webhook-config-file",
    "file",
    "",
    "Client configuration of a service that is asked about tokens which nobody else knows.",
  ),
  flag(
    "authentication-token-webhook-version",
    "string",
    "v1beta1",
    "Version of the TokenReviews that it is asked with: v1 or v1beta1.",
  ),
  flag("authentication-token-webhook-cache-ttl", "duration", "2m", "How long its answers are remembered."),
  flag("oidc-issuer-url", "string", "", "https URL of the OpenID provider whose ID tokens are believed."),
  flag(
    "oidc-client-id",
    "string",
    "",
    "Client for which the ID tokens must be; goes with --oidc-issuer-url.",
  ),
  flag("oidc-username-claim", "string", "sub", "Claim with the user's name."),
  flag(
    "oidc-username-prefix",
    "string",
    "",
    "What is put before user names, - for nothing; by default the issuer and #, nothing for the claim email.",
  ),
  flag("oidc-groups-claim", "string", "", "Claim with the user's groups; without it there are none."),
  flag("oidc-groups-prefix", "string", "", "What is put before groups."),
  flag("oidc-required-claim", "list", "", "KEY=VALUE pairs that must stand in the ID token."),
  flag(
    "oidc-ca-file",
    "file",
    "",
    "Authorities of the provider's certificate (PEM); by default those of this machine.",
  ),
  flag("oidc-signing-algs", "list", "RS256", "Algorithms that the signatures of ID tokens may have."),
  flag(
    "requestheader-client-ca-file",
    "file",
    "",
    "Authorities of proxies whose headers say who somebody is (PEM).",
  ),
  flag(
    "requestheader-username-headers",
    "list",
    "",
    "Headers of which the first with a value is the user's name; goes with --requestheader-client-ca-file.",
  ),
  flag("requestheader-group-headers", "list", "", "Headers whose values are the user's groups."),
  flag(
    "requestheader-extra-headers-prefix",
    "list",
    "",
    "Prefixes of headers with further facts about the user.",
  ),
  flag(
    "requestheader-allowed-names",
    "list",
    "",
    "Common names that the proxies' certificates may have; by default any.",
  ),
];

/** The options that those flags ask for. */
export function authenticationOptions(read: FlagReader): AuthenticationOptions {
  return {
    apiAudiences: read.list("api-audiences"),
    serviceAccounts: {
      issuers: read.list("service-account-issuer"),
      keyFiles: read.list("service-account-key-file"),
      signingKeyFile: read.optional("service-account-signing-key-file"),
      lookup: read.boolean("service-account-lookup") ?? true,
      maxExpirationMs: read.durationMs("service-account-max-token-expiration"),
      extendExpiration: read.boolean("service-account-extend-token-expiration") ?? true,
      jwksUri: read.optional("service-account-jwks-uri"),
    },
    tokenWebhook: tokenWebhook(read),
    oidc: oidc(read),
    proxy: proxy(read),
    bootstrapTokens: read.boolean("enable-bootstrap-token-auth") ?? false,
  };
}

function tokenWebhook(read: FlagReader): TokenWebhookChoice | undefined {
  const version = read.choice("authentication-token-webhook-version", ["v1", "v1beta1"]);
  const cacheMs = read.durationMs("authentication-token-webhook-cache-ttl");
  const configFile = read.optional("authentication-token-webhook-config-file");
  return configFile === undefined ? undefined : { configFile, version, cacheMs };
}

function oidc(read: FlagReader): OidcChoice | undefined {
  const issuerUrl = read.text("oidc-issuer-url");
  const clientId = read.text("oidc-client-id");
  if (issuerUrl === "" || clientId === "") {
    return refuseAlone(read, "oidc-", issuerUrl === "" ? "oidc-issuer-url" : "oidc-client-id");
  }
  return {
    issuerUrl,
    clientId,
    usernameClaim: read.text("oidc-username-claim"),
    usernamePrefix: read.optional("oidc-username-prefix"),
    groupsClaim: read.optional("oidc-groups-claim"),
    groupsPrefix: read.text("oidc-groups-prefix"),
    requiredClaims: read.list("oidc-required-claim"),
    caFile: read.optional("oidc-ca-file"),
    signingAlgorithms: read.list("oidc-signing-algs"),
  };
}

function proxy(read: FlagReader): ProxyChoice | undefined {
  const caFile = read.text("requestheader-client-ca-file");
  const usernameHeaders = read.list("requestheader-username-headers");
  if (caFile === "" || usernameHeaders.length === 0) {
    const missing = caFile === "" ? "requestheader-client-ca-file" : "requestheader-username-headers";
    return refuseAlone(read, "requestheader-", missing);
  }
  return {
    caFile,
    usernameHeaders,
    groupHeaders: read.list("requestheader-group-headers"),
    extraHeaderPrefixes: read.list("requestheader-extra-headers-prefix"),
    allowedNames: read.list("requestheader-allowed-names"),
  };
}

/** A flag that is given without the one that gives it a meaning was surely not meant so. */
function refuseAlone(read: FlagReader, prefix: string, missing: string): undefined {
  const given = authenticationFlags.find(
    ({ name, default: byDefault }) => name.startsWith(prefix) && read.text(name) !== byDefault,
  );
  if (given !== undefined) throw new UsageError(`--${given.name} needs --${missing}`);
}
