import { struct } from "./v1.ts";
import { bytes, field, inlined, int32, list, string } from "../../schema/types.ts";
import { webhookClient } from "../checks/webhooks.ts";
import { checkRule } from "./rule-checks.ts";

const Rule = struct("Rule", "Resources that the rule matches.", {
  apiGroups: field(1, list(string), "API groups of the resources; `*` matches every group.").atomic(),
  apiVersions: field(2, list(string), "API versions of the resources; `*` matches every version.").atomic(),
  resources: field(
    3,
    list(string),
    "Resources and subresources, such as `pods` and `pods/status`; `*` matches every resource.",
  ).atomic(),
  scope: field(4, string, "Scope of the resources: Cluster, Namespaced or `*` for both. Default: `*`.")
    .nullable()
    .oneOf("*", "Cluster", "Namespaced")
    .unpublishedDefault("*"),
});

export const RuleWithOperations = struct(
  "RuleWithOperations",
  "Operations and resources that the rule matches.",
  {
    operations: field(
      1,
      list(string),
      "Operations: CREATE, UPDATE, DELETE, CONNECT; `*` matches every operation.",
    )
      .atomic()
      .oneOf("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
      .unchecked(),
    ...inlined(2, Rule),
  },
  { check: checkRule },
);

const ServiceReference = struct("ServiceReference", "Reference to the Service of a webhook.", {
  namespace: field(1, string, "Namespace of the service.").declaredRequired(),
  name: field(2, string, "Name of the service.").declaredRequired(),
  path: field(3, string, "URL path of the request.").nullable(),
  port: field(4, int32, "Port of the Service. Default: 443.").nullable().unpublishedDefault(443),
});

export const WebhookClientConfig = struct(
  "WebhookClientConfig",
  "Address of a webhook: a Service or a URL.",
  {
    service: field(1, ServiceReference, "Service of the webhook; not together with `url`.").nullable(),
    caBundle: field(2, bytes, "CA certificates (PEM) for verifying the webhook's certificate."),
    url: field(3, string, "URL of the webhook: `https`, without user, query and fragment.").nullable(),
  },
  { check: webhookClient },
);
