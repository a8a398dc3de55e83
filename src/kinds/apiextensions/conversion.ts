import { struct } from "./v1.ts";
import { bytes, field, int32, list, string } from "../../schema/types.ts";
import { checkConversion } from "./conversion-rules.ts";

const ServiceReference = struct("ServiceReference", "Reference to the Service of a webhook.", {
  namespace: field(1, string, "Namespace of the service.").declaredRequired(),
  name: field(2, string, "Name of the service.").declaredRequired(),
  path: field(3, string, "URL path of the request.").nullable(),
  port: field(4, int32, "Port of the Service. Default: 443.").nullable().unpublishedDefault(443),
});

const WebhookClientConfig = struct("WebhookClientConfig", "The address of a webhook: a URL or a Service.", {
  service: field(1, ServiceReference, "Service of the webhook; not together with `url`.").nullable(),
  caBundle: field(2, bytes, "CA certificates (PEM) for verifying the webhook's certificate."),
  url: field(3, string, "URL of the webhook: `https`, without user, query and fragment.").nullable(),
});

const WebhookConversion = struct("WebhookConversion", "The webhook that converts objects between versions.", {
  clientConfig: field(2, WebhookClientConfig, "The address of the webhook.").nullable(),
  conversionReviewVersions: field(
    3,
    list(string),
    "Versions of ConversionReview that the webhook supports, in order of preference.",
  )
    .declaredRequired()
    .atomic(),
});

export const CustomResourceConversion = struct(
  "CustomResourceConversion",
  "Conversion of objects between versions.",
  {
    strategy: field(1, string, "None changes only `apiVersion`; Webhook calls the webhook.")
      .required()
      .knownValues("None", "Webhook"),
    webhook: field(2, WebhookConversion, "The webhook; only for the strategy Webhook.").nullable(),
  },
  { check: checkConversion },
);
