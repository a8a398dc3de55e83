import { struct } from "./v1.ts";
import { bytes, field, inlined, int32, list, string } from "../../schema/types.ts";
import { webhookClient } from "../checks/webhooks.ts";
import { checkRule } from "./rule-checks.ts";

const Rule = struct("Rule", "Which resources are meant.", {
  apiGroups: field(1, list(string), "Groups of the resources; `*` is every group.").atomic(),
  apiVersions: field(2, list(string), "Versions of the resources; `*` is every version.").atomic(),
  resources: field(3, list(string), "Resources, and subresources behind a slash; `*` is every one.").atomic(),
  scope: field(4, string, "Whether only cluster-wide, only namespaced or all resources are meant.")
    .nullable()
    .oneOf("*", "Cluster", "Namespaced")
    .unpublishedDefault("*"),
});

export const RuleWithOperations = struct(
  "RuleWithOperations",
  "Which operations on which resources are meant.",
  {
    operations: field(1, list(string), "The operations; `*` is every one.")
      .atomic()
      .oneOf("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
      .unchecked(),
    ...inlined(2, Rule),
  },
  { check: checkRule },
);

const ServiceReference = struct("ServiceReference", "A service of the cluster.", {
  namespace: field(1, string, "Namespace of the service.").declaredRequired(),
  name: field(2, string, "Name of the service.").declaredRequired(),
  path: field(3, string, "Path of the URL that is asked.").nullable(),
  port: field(4, int32, "Port of the service.").nullable().unpublishedDefault(443),
});

export const WebhookClientConfig = struct(
  "WebhookClientConfig",
  "How a webhook is reached: by a URL or at a service.",
  {
    service: field(1, ServiceReference, "The service that is asked.").nullable(),
    caBundle: field(
      2,
      bytes,
      "Certificates (PEM) of the authorities that the webhook's certificate is checked against.",
    ),
    url: field(3, string, "The URL that is asked; `https` without user, query and fragment.").nullable(),
  },
  { check: webhookClient },
);
