import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, string } from "../../schema/types.ts";
import { excludedRuleWarnings } from "./excluded-reviews.ts";
import { checkNotStatic } from "./static-names.ts";
import { uniqueBy } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { objectSelector, webhookFields, webhookRules, webhooksColumn } from "./webhook-fields.ts";

const MutatingWebhook = struct(
  "MutatingWebhook",
  "An admission webhook that can change or reject objects.",
  {
    ...webhookFields,
    reinvocationPolicy: field(
      10,
      string,
      "Whether the webhook is called again after later mutations: IfNeeded or Never. Default: Never.",
    )
      .nullable()
      .oneOf("IfNeeded", "Never")
      .unpublishedDefault("Never"),
    objectSelector: objectSelector(11),
  },
  webhookRules(12),
);

export const MutatingWebhookConfiguration = kind({
  name: "MutatingWebhookConfiguration",
  resource: "mutatingwebhookconfigurations",
  singular: "mutatingwebhookconfiguration",
  categories: ["api-extensions"],
  scope: "Cluster",
  anyFinalizer: true,
  allowUnconditionalUpdate: false,
  doc: "Admission webhooks that can change or reject objects.",
  effect: {
    enforced:
      "the webhooks of the configuration change or refuse the requests that they match (plugin MutatingAdmissionWebhook)",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the configuration.").emitEmpty(),
    webhooks: field(2, list(MutatingWebhook), "The webhooks, each with a unique name.")
      .mapBy("name")
      .patchMerge("name")
      .check(uniqueBy((webhook) => webhook.name, "name")),
  },
  validateCreate: checkNotStatic,
  warnings: excludedRuleWarnings,
  generationOf: ({ webhooks }) => webhooks,
  columns: [nameColumn, webhooksColumn, ageColumn],
});
export type MutatingWebhookConfiguration = ObjectFor<typeof MutatingWebhookConfiguration>;
