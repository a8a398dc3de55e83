import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list } from "../../schema/types.ts";
import { excludedRuleWarnings } from "./excluded-reviews.ts";
import { checkNotStatic } from "./static-names.ts";
import { uniqueBy } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { objectSelector, webhookFields, webhookRules, webhooksColumn } from "./webhook-fields.ts";

const ValidatingWebhook = struct(
  "ValidatingWebhook",
  "An admission webhook that can reject requests.",
  {
    ...webhookFields,
    objectSelector: objectSelector(10),
  },
  webhookRules(11),
);

export const ValidatingWebhookConfiguration = kind({
  name: "ValidatingWebhookConfiguration",
  resource: "validatingwebhookconfigurations",
  singular: "validatingwebhookconfiguration",
  categories: ["api-extensions"],
  scope: "Cluster",
  anyFinalizer: true,
  allowUnconditionalUpdate: false,
  doc: "Admission webhooks that can reject requests.",
  effect: {
    enforced:
      "the webhooks of the configuration refuse requests that they match (plugin ValidatingAdmissionWebhook)",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the configuration.").emitEmpty(),
    webhooks: field(2, list(ValidatingWebhook), "The webhooks, each with a unique name.")
      .mapBy("name")
      .patchMerge("name")
      .check(uniqueBy((webhook) => webhook.name, "name")),
  },
  validateCreate: checkNotStatic,
  warnings: excludedRuleWarnings,
  generationOf: ({ webhooks }) => webhooks,
  columns: [nameColumn, webhooksColumn, ageColumn],
});
export type ValidatingWebhookConfiguration = ObjectFor<typeof ValidatingWebhookConfiguration>;
