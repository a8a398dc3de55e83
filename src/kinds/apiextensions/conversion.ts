import { struct } from "./v1.ts";
import { bytes, field, int32, list, string } from "../../schema/types.ts";
import { checkConversion } from "./conversion-rules.ts";

const ServiceReference = struct("ServiceReference", "A service of the cluster.", {
  namespace: field(1, string, "Namespace of the service.").declaredRequired(),
  name: field(2, string, "Name of the service.").declaredRequired(),
  path: field(3, string, "Path of the URL.").nullable(),
  port: field(4, int32, "Port of the service.").nullable().unpublishedDefault(443),
});

const WebhookClientConfig = struct("WebhookClientConfig", "The address of a webhook: a URL or a Service.", {
  service: field(1, ServiceReference, "The Service of the webhook.").nullable(),
  caBundle: field(2, bytes, "CA certificates (PEM) for verifying the webhook's certificate."),
  url: field(3, string, "The URL; `https` without user, query and fragment.").nullable(),
});

const WebhookConversion = struct("WebhookConversion", "The webhook that converts objects between versions.", {
  clientConfig: field(2, WebhookClientConfig, "The address of the webhook.").nullable(),
  conversionReviewVersions: field(
    3,
    list(string),
    "Versions of the review that the webhook supports, in order of preference.",
  )
    .declaredRequired()
    .atomic(),
});

export const CustomResourceConversion = struct(
  "CustomResourceConversion",
  "How objects are converted between versions.",
  {
    strategy: field(1, string, "None changes only apiVersion; Webhook calls the webhook.")
      .required()
      .knownValues("None", "Webhook"),
    webhook: field(2, WebhookConversion, "The webhook, for the strategy Webhook.").nullable(),
  },
  { check: checkConversion },
);
