import { since } from "../../base/release-rows.ts";
import type { Column } from "../../schema/columns.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { field, int32, list, string } from "../../schema/types.ts";
import { labelSelector } from "../checks/selectors.ts";
import { reviewVersions } from "../checks/webhooks.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { declareMatchCondition, matchConditionsField } from "./match-condition.ts";
import { struct } from "./v1.ts";
import { RuleWithOperations, WebhookClientConfig } from "./webhook.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";

/** Requires a domain with at least three labels. */
function webhookName(name: string, report: FieldReport): void {
  const faults = dnsSubdomainFaults(name);
  for (const message of faults) report.invalid(name, message);
  if (faults.length === 0 && name.split(".").length < 3) {
    report.invalid(name, "should be a domain with at least three segments separated by dots");
  }
}

const allowedSideEffects = ["None", "NoneOnDryRun"];

/** Requires a webhook without side effects, because webhooks are also called for dry runs. */
function noSideEffects(sideEffects: string, report: FieldReport): void {
  if (!allowedSideEffects.includes(sideEffects)) report.notSupported(sideEffects, allowedSideEffects);
}

/** Checks the timeout of a webhook call, in seconds. */
function webhookTimeout(seconds: number, report: FieldReport): void {
  if (seconds < 1 || seconds > 30) {
    report.invalid(seconds, "the timeout value must be between 1 and 30 seconds");
  }
}

/** Fields that mutating and validating webhooks have in common, with the same numbers. */
export const webhookFields = {
  name: field(1, string, "Fully qualified name of the webhook, with at least three parts.")
    .required()
    .check(webhookName),
  clientConfig: field(
    2,
    WebhookClientConfig,
    "Address of the webhook: a Service or a URL.",
  ).declaredRequired(),
  rules: field(
    3,
    list(RuleWithOperations),
    "Requests to send to the webhook; at least one rule must match.",
  ).atomic(),
  failurePolicy: field(
    4,
    string,
    "Handling of requests for which the webhook cannot be called: Fail or Ignore. Default: Fail.",
  )
    .nullable()
    .oneOf("Fail", "Ignore")
    .unpublishedDefault("Fail"),
  namespaceSelector: field(
    5,
    LabelSelector,
    "Label selector of the namespaces whose objects are sent. Default: all.",
  )
    .nullable()
    .unpublishedDefault({})
    .check(labelSelector),
  sideEffects: field(6, string, "Side effects of a call, such as None or NoneOnDryRun.")
    .required()
    .nullable()
    .oneOf("None", "NoneOnDryRun", "Some", "Unknown")
    .unchecked()
    .check(noSideEffects),
  timeoutSeconds: field(7, int32, "Timeout of a call in seconds, 1 to 30. Default: 10.")
    .nullable()
    .unpublishedDefault(10)
    .check(webhookTimeout),
  admissionReviewVersions: field(
    8,
    list(string),
    "Versions of AdmissionReview that the webhook supports, in order of preference.",
  )
    .declaredRequired()
    .atomic(),
  matchPolicy: field(
    9,
    string,
    "Match policy: Exact, or Equivalent to match other versions of a resource too. Default: Equivalent.",
  )
    .nullable()
    .oneOf("Equivalent", "Exact")
    .unpublishedDefault("Equivalent"),
};

/** The field `objectSelector`; its number differs between kinds. */
export const objectSelector = (number: number) =>
  field(number, LabelSelector, "Label selector of the objects that are sent. Default: all.")
    .nullable()
    .unpublishedDefault({})
    .check(labelSelector);

/** Checks and later fields of a webhook; the number of the field `matchConditions` differs between kinds. */
export const webhookRules = (matchConditionsNumber: number) => ({
  later: () => ({
    matchConditions: since(
      "1.27",
      matchConditionsField(matchConditionsNumber, MatchCondition).gated("AdmissionWebhookMatchConditions"),
    ),
  }),
  check: (
    { admissionReviewVersions }: { readonly admissionReviewVersions: readonly string[] },
    report: FieldReport,
  ) => reviewVersions(admissionReviewVersions, report.at("admissionReviewVersions")),
});

const MatchCondition = declareMatchCondition(struct);

/** Column with the number of webhooks. */
export const webhooksColumn: Column<{ readonly webhooks?: readonly unknown[] | undefined }> = {
  name: "Webhooks",
  type: "integer",
  doc: "Number of webhooks.",
  cell: ({ webhooks = [] }) => webhooks.length,
};
