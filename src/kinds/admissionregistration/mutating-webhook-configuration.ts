import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, list, string } from "../../schema/types.ts";
import { labelSelector } from "../checks/selectors.ts";
import { uniqueBy } from "../checks/values.ts";
import { reviewVersions } from "../checks/webhooks.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { noSideEffects, webhookName, webhookTimeout } from "./webhook-rules.ts";
import { RuleWithOperations, WebhookClientConfig } from "./webhook.ts";

const MutatingWebhook = struct(
  "MutatingWebhook",
  "A webhook that may change what is written.",
  {
    name: field(1, string, "Full name of the webhook, with at least three parts.")
      .required()
      .check(webhookName),
    clientConfig: field(2, WebhookClientConfig, "How the webhook is reached.").declaredRequired(),
    rules: field(3, list(RuleWithOperations), "Which requests are sent to the webhook.").atomic(),
    failurePolicy: field(4, string, "What follows when the webhook can't be asked.")
      .nullable()
      .oneOf("Fail", "Ignore")
      .filled("Fail"),
    namespaceSelector: field(5, LabelSelector, "Selects the namespaces whose objects are sent.")
      .nullable()
      .filled({})
      .check(labelSelector),
    sideEffects: field(6, string, "Whether asking has effects beyond the answer.")
      .required()
      .nullable()
      .oneOf("None", "NoneOnDryRun", "Some", "Unknown")
      .unchecked()
      .check(noSideEffects),
    timeoutSeconds: field(7, int32, "Seconds after which the webhook counts as failed.")
      .nullable()
      .filled(10)
      .check(webhookTimeout),
    admissionReviewVersions: field(
      8,
      list(string),
      "Versions of the review that the webhook understands, best first.",
    )
      .declaredRequired()
      .atomic(),
    matchPolicy: field(9, string, "Whether a request for another version of a resource matches too.")
      .nullable()
      .oneOf("Equivalent", "Exact")
      .filled("Equivalent"),
    reinvocationPolicy: field(
      10,
      string,
      "Whether the webhook is asked again when a later one changed the object.",
    )
      .nullable()
      .oneOf("IfNeeded", "Never")
      .filled("Never"),
    objectSelector: field(11, LabelSelector, "Selects the objects that are sent, by their labels.")
      .nullable()
      .filled({})
      .check(labelSelector),
  },
  {
    check: ({ admissionReviewVersions }, place) =>
      reviewVersions(admissionReviewVersions, place.at("admissionReviewVersions")),
  },
);

export const MutatingWebhookConfiguration = kind({
  name: "MutatingWebhookConfiguration",
  resource: "mutatingwebhookconfigurations",
  singular: "mutatingwebhookconfiguration",
  categories: ["api-extensions"],
  scope: "Cluster",
  anyFinalizer: true,
  needsVersion: true,
  doc: "Webhooks that may change what is written.",
  effect: {
    unenforced: "mutating webhooks are not called",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the configuration.").emitEmpty(),
    webhooks: field(2, list(MutatingWebhook), "The webhooks.")
      .mapBy("name")
      .patchMerge("name")
      .check(uniqueBy((webhook) => webhook.name, "name")),
  },
  generationOf: ({ webhooks }) => webhooks,
  columns: [
    nameColumn,
    {
      name: "Webhooks",
      type: "integer",
      doc: "How many webhooks there are.",
      cell: ({ webhooks = [] }) => webhooks.length,
    },
    ageColumn,
  ],
});
export type MutatingWebhookConfiguration = ObjectFor<typeof MutatingWebhookConfiguration>;
