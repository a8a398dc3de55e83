import { struct } from "../../schema/meta.ts";
import { bool, field, list, string, type Static } from "../../schema/types.ts";

const MatchCondition = struct("WebhookMatchCondition", "A condition for requests to the webhook.", {
  expression: field(undefined, string, "A CEL expression over the request."),
});

const ConnectionInfo = struct("WebhookConnectionInfo", "How the webhook is reached.", {
  type: field(undefined, string, "KubeConfigFile, or InClusterConfig for the API server of the cluster."),
  kubeConfigFile: field(undefined, string, "Path of the client configuration.").nullable(),
});

const Webhook = struct("WebhookConfiguration", "The webhook of an authorizer.", {
  authorizedTTL: field(undefined, string, "How long allowing decisions are cached."),
  cacheAuthorizedRequests: field(undefined, bool, "Whether allowing decisions are cached.").nullable(),
  unauthorizedTTL: field(undefined, string, "How long other decisions are cached."),
  cacheUnauthorizedRequests: field(undefined, bool, "Whether other decisions are cached.").nullable(),
  timeout: field(undefined, string, "Limit of the time of a request."),
  subjectAccessReviewVersion: field(undefined, string, "Version of the SubjectAccessReviews: v1 or v1beta1."),
  matchConditionSubjectAccessReviewVersion: field(
    undefined,
    string,
    "Version of the request in conditions: v1.",
  ),
  failurePolicy: field(undefined, string, "The decision if the request fails: NoOpinion or Deny."),
  connectionInfo: field(undefined, ConnectionInfo, "How the webhook is reached."),
  matchConditions: field(undefined, list(MatchCondition), "The webhook is called if all are true."),
});

const Authorizer = struct("AuthorizerConfiguration", "One authorizer.", {
  type: field(undefined, string, "The authorization mode."),
  name: field(undefined, string, "A name for messages."),
  webhook: field(undefined, Webhook, "Only for the type Webhook."),
});

/** The content of the file of `--authorization-config`. */
export const AuthorizationConfiguration = struct(
  "AuthorizationConfiguration",
  "How requests are authorized.",
  {
    kind: field(undefined, string, "AuthorizationConfiguration."),
    apiVersion: field(undefined, string, "Version of the configuration format."),
    authorizers: field(undefined, list(Authorizer), "The authorizers in order."),
  },
);

export type AuthorizerFields = Static<typeof Authorizer>;
export type WebhookFields = Static<typeof Webhook>;
