import { group, option } from "./option.ts";
import { clientConfigurationFile, milliseconds, oneOf } from "./value-type.ts";

const minuteMs = 60_000;

export const authorizationWebhook = group(
  "The webhook of authorization mode Webhook.",
  {
    configFile: option(
      clientConfigurationFile,
      "authorization-webhook-config-file",
      "Client configuration of the webhook of mode Webhook.",
      { required: true },
    ),
    version: option(
      oneOf(["v1", "v1beta1"]),
      "authorization-webhook-version",
      "Version of the SubjectAccessReviews sent to that webhook: v1 or v1beta1.",
      { default: "v1beta1" },
    ),
    authorizedMs: option(
      milliseconds,
      "authorization-webhook-cache-authorized-ttl",
      "How long allowing decisions of that webhook are cached.",
      { default: 5 * minuteMs },
    ),
    unauthorizedMs: option(
      milliseconds,
      "authorization-webhook-cache-unauthorized-ttl",
      "How long denying decisions of that webhook are cached.",
      { default: minuteMs / 2 },
    ),
  },
  { typeName: "AuthorizationWebhookOptions", ignoredAlone: true },
);
