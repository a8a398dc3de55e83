import type {
  AuthenticationOptions,
  OidcChoice,
  ProxyChoice,
  TokenWebhookChoice,
} from "../server/authentication-options.ts";
import type { Flag } from "./flag.ts";
import { UsageError, type FlagReader } from "./flag-reader.ts";

/** The flags of how callers are recognized (spec: conventions 5). */
export const authenticationFlags = [
  {
    name: "api-audiences",
    type: "list",
    default: "",
    doc: "Names under which tokens may mean this server, comma separated; by default the issuers.",
  },
  {
    name: "service-account-issuer",
    type: "list",
    default: "",
    doc: "Issuers of service accounts' tokens that are believed; the first one issues. By default the vocabulary's.",
  },
  {
    name: "service-account-key-file",
    type: "list",
    default: "",
    doc: "Files of RSA and ECDSA keys, public or private (PEM), that verify service accounts' tokens; by default --tls-private-key-file.",
  },
  {
    name: "service-account-signing-key-file",
    type: "file",
    default: "",
    doc: "Private key that signs service accounts' tokens (PEM); without it the server makes one.",
  },
  {
    name: "service-account-lookup",
    type: "boolean",
    default: "true",
    doc: "Refuse tokens of Secrets whose Secret or service account is gone.",
  },
  {
    name: "service-account-max-token-expiration",
    type: "duration",
    default: "0s",
    doc: "The longest time that a requested token holds, at least 1h; 0s for no limit.",
  },
  {
    name: "service-account-extend-token-expiration",
    type: "boolean",
    default: "true",
    doc: "Let the tokens that pods get by themselves hold for a year, and count their use after the hour they were asked for.",
  },
  {
    name: "service-account-jwks-uri",
    type: "string",
    default: "",
    doc: "Where others fetch the keys of service accounts' tokens, if not below the issuer (https).",
  },
  {
    name: "enable-bootstrap-token-auth",
    type: "boolean",
    default: "false",
    doc: "Believe the bootstrap tokens that lie in Secrets of the system's namespace.",
  },
  {
    name: "authentication-token-webhook-config-file",
    type: "file",
    default: "",
    doc: "Client configuration of a service that is asked about tokens which nobody else knows.",
  },
  {
    name: "authentication-token-webhook-version",
    type: "string",
    default: "v1beta1",
    doc: "Version of the TokenReviews that it is asked with: v1 or v1beta1.",
  },
  {
    name: "authentication-token-webhook-cache-ttl",
    type: "duration",
    default: "2m",
    doc: "How long its answers are remembered.",
  },
  {
    name: "oidc-issuer-url",
    type: "string",
    default: "",
    doc: "https URL of the OpenID provider whose ID tokens are believed.",
  },
  {
    name: "oidc-client-id",
    type: "string",
    default: "",
    doc: "Client for which the ID tokens must be; goes with --oidc-issuer-url.",
  },
  { name: "oidc-username-claim", type: "string", default: "sub", doc: "Claim with the user's name." },
  {
    name: "oidc-username-prefix",
    type: "string",
    default: "",
    doc: "What is put before user names, - for nothing; by default the issuer and #, nothing for the claim email.",
  },
  {
    name: "oidc-groups-claim",
    type: "string",
    default: "",
    doc: "Claim with the user's groups; without it there are none.",
  },
  { name: "oidc-groups-prefix", type: "string", default: "", doc: "What is put before groups." },
  {
    name: "oidc-required-claim",
    type: "list",
    default: "",
    doc: "KEY=VALUE pairs that must stand in the ID token.",
  },
  {
    name: "oidc-ca-file",
    type: "file",
    default: "",
    doc: "Authorities of the provider's certificate (PEM); by default those of this machine.",
  },
  {
    name: "oidc-signing-algs",
    type: "list",
    default: "RS256",
    doc: "Algorithms that the signatures of ID tokens may have.",
  },
  {
    name: "requestheader-client-ca-file",
    type: "file",
    default: "",
    doc: "Authorities of proxies whose headers say who somebody is (PEM).",
  },
  {
    name: "requestheader-username-headers",
    type: "list",
    default: "",
    doc: "Headers of which the first with a value is the user's name; goes with --requestheader-client-ca-file.",
  },
  {
    name: "requestheader-group-headers",
    type: "list",
    default: "",
    doc: "Headers whose values are the user's groups.",
  },
  {
    name: "requestheader-extra-headers-prefix",
    type: "list",
    default: "",
    doc: "Prefixes of headers with further facts about the user.",
  },
  {
    name: "requestheader-allowed-names",
    type: "list",
    default: "",
    doc: "Common names that the proxies' certificates may have; by default any.",
  },
] as const satisfies readonly Flag[];

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
