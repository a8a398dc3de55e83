import { struct } from "../../schema/meta.ts";
import { bool, field, list, string, type Static } from "../../schema/types.ts";

const MatchCondition = struct("WebhookMatchCondition", "A condition for requests to the webhook.", {
  expression: field(undefined, string, "CEL expression on the request that must return true."),
});

const ConnectionInfo = struct("WebhookConnectionInfo", "Connection to the webhook.", {
  type: field(undefined, string, "KubeConfigFile, or InClusterConfig for the API server of the cluster."),
  kubeConfigFile: field(undefined, string, "Path of the client configuration.").nullable(),
});

const Webhook = struct("WebhookConfiguration", "The webhook of an authorizer.", {
  authorizedTTL: field(undefined, string, "Time for which allowing decisions are cached."),
  cacheAuthorizedRequests: field(undefined, bool, "Whether allowing decisions are cached.").nullable(),
  unauthorizedTTL: field(undefined, string, "Time for which other decisions are cached."),
  cacheUnauthorizedRequests: field(undefined, bool, "Whether other decisions are cached.").nullable(),
  timeout: field(undefined, string, "Timeout of a request to the webhook."),
  subjectAccessReviewVersion: field(undefined, string, "Version of the SubjectAccessReviews: v1 or v1beta1."),
  matchConditionSubjectAccessReviewVersion: field(
    undefined,
    string,
    "Version of the request in conditions: v1.",
  ),
  failurePolicy: field(undefined, string, "The decision if the request fails: NoOpinion or Deny."),
  connectionInfo: field(undefined, ConnectionInfo, "Connection to the webhook."),
  matchConditions: field(
    undefined,
    list(MatchCondition),
    "Conditions for calling the webhook; all must be true.",
  ),
});

const Authorizer = struct("AuthorizerConfiguration", "An authorizer.", {
  type: field(undefined, string, "Authorization mode, such as RBAC."),
  name: field(undefined, string, "Name of the authorizer in logs and metrics."),
  webhook: field(undefined, Webhook, "Settings of the webhook; only for the type Webhook."),
});

/** The content of the file of `--authorization-config`. */
export const AuthorizationConfiguration = struct(
  "AuthorizationConfiguration",
  "Authorizers of requests, in order of their calls.",
  {
    kind: field(undefined, string, "AuthorizationConfiguration."),
    apiVersion: field(undefined, string, "Version of the configuration format."),
    authorizers: field(undefined, list(Authorizer), "Authorizers in the order in which they are called."),
  },
);

export type AuthorizerFields = Static<typeof Authorizer>;
export type WebhookFields = Static<typeof Webhook>;
