import { struct } from "../../schema/meta.ts";
import { bool, field, list, string, type Static } from "../../schema/types.ts";

const Issuer = struct("Issuer", "The provider of tokens.", {
  url: field(undefined, string, "https URL of the issuer; the claim `iss` of its tokens."),
  discoveryURL: field(
    undefined,
    string,
    "https URL of the discovery document, if it isn't below the issuer.",
  ),
  certificateAuthority: field(undefined, string, "CA certificates of the provider (PEM)."),
  audiences: field(undefined, list(string), "Audiences, of which a token must have one."),
  audienceMatchPolicy: field(undefined, string, "Policy for several audiences; must be MatchAny."),
  egressSelectorType: field(undefined, string, "Not supported."),
});

const ClaimValidationRule = struct("ClaimValidationRule", "A condition for the claims of a token.", {
  claim: field(undefined, string, "Name of a claim that the token must have."),
  requiredValue: field(undefined, string, "Required value of the claim."),
  expression: field(undefined, string, "CEL expression that must return true."),
  message: field(undefined, string, "Message if the expression is false."),
});

const PrefixedClaimOrExpression = struct(
  "PrefixedClaimOrExpression",
  "Source of a value: a claim or a CEL expression.",
  {
    claim: field(undefined, string, "Name of the claim with the value."),
    prefix: field(undefined, string, "Prefix of the value of the claim.").nullable(),
    expression: field(undefined, string, "CEL expression that returns the value."),
  },
);

const ClaimOrExpression = struct("ClaimOrExpression", "Source of a value: a claim or a CEL expression.", {
  claim: field(undefined, string, "Name of the claim with the value."),
  expression: field(undefined, string, "CEL expression that returns the value."),
});

const ExtraMapping = struct("ExtraMapping", "An extra attribute of the user.", {
  key: field(undefined, string, "Name of the attribute, with a domain."),
  valueExpression: field(undefined, string, "CEL expression that returns the values."),
});

const ClaimMappings = struct("ClaimMappings", "Mapping of claims to attributes of the user.", {
  username: field(undefined, PrefixedClaimOrExpression, "The name of the user."),
  groups: field(undefined, PrefixedClaimOrExpression, "The groups of the user."),
  uid: field(undefined, ClaimOrExpression, "The uid of the user."),
  extra: field(undefined, list(ExtraMapping), "Extra attributes of the user."),
});

const UserValidationRule = struct("UserValidationRule", "A condition for the user.", {
  expression: field(undefined, string, "CEL expression that must return true."),
  message: field(undefined, string, "Message if the expression is false."),
});

const JwtAuthenticator = struct("JWTAuthenticator", "Accepts the tokens of an issuer.", {
  issuer: field(undefined, Issuer, "The provider of the tokens."),
  claimValidationRules: field(undefined, list(ClaimValidationRule), "Conditions for the claims."),
  claimMappings: field(undefined, ClaimMappings, "Mapping of claims to attributes of the user."),
  userValidationRules: field(undefined, list(UserValidationRule), "Conditions for the user."),
});

const AnonymousCondition = struct("AnonymousAuthCondition", "Requests that may be anonymous.", {
  path: field(undefined, string, "The path of the requests."),
});

const Anonymous = struct("AnonymousAuthConfig", "Requests without credentials.", {
  enabled: field(undefined, bool, "Whether requests without credentials are accepted as anonymous."),
  conditions: field(undefined, list(AnonymousCondition), "Requests that may be anonymous; empty for all."),
});

/** The content of the file of `--authentication-config`. */
export const AuthenticationConfiguration = struct(
  "AuthenticationConfiguration",
  "Authentication of requests.",
  {
    kind: field(undefined, string, "AuthenticationConfiguration."),
    apiVersion: field(undefined, string, "Version of the configuration format."),
    jwt: field(undefined, list(JwtAuthenticator), "The trusted issuers of tokens."),
    anonymous: field(undefined, Anonymous, "Requests without credentials."),
  },
);

export type JwtFields = Static<typeof JwtAuthenticator>;
export type AnonymousFields = Static<typeof Anonymous>;
export type ClaimMappingFields = Static<typeof ClaimMappings>;
